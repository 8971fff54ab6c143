import * as z from 'zod';
import { readAnswer } from '../outbound/answer.ts';
import { below, type SearchAdapter } from './adapter.ts';

const schema = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string().nullish(),
          url: z.string().nullish(),
          description: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
});

export const brave: SearchAdapter = {
  ask: ({ base_url: base = 'https://api.search.brave.com/res/v1', api_key: key = '' }, query, count) => ({
    url: `${below(base, 'web/search')}?${new URLSearchParams({ q: query, count: String(count) }).toString()}`,
    headers: { 'x-subscription-token': key },
  }),
  read: (answer, service) =>
    (readAnswer(answer, schema, service).web?.results ?? []).map(({ title, url, description }) => ({
      title,
      url,
      snippet: description,
    })),
};
