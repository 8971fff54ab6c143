import * as z from 'zod';
import { readAnswer } from '../outbound/answer.ts';
import { bearer, below, type SearchAdapter } from './adapter.ts';

const schema = z.object({
  results: z.array(
    z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() }),
  ),
});

export const tavily: SearchAdapter = {
  ask: ({ base_url: base = 'https://api.tavily.com', api_key: key }, query, count) => ({
    url: below(base, 'search'),
    body: { query, max_results: count },
    headers: bearer(key),
  }),
  read: (answer, service) =>
    readAnswer(answer, schema, service).results.map(({ title, url, content }) => ({
      title,
      url,
      snippet: content,
    })),
};
