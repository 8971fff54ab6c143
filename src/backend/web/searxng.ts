import * as z from 'zod';
import { readAnswer } from '../outbound/answer.ts';
import { bearer, below, type SearchAdapter } from './adapter.ts';

const schema = z.object({
  results: z.array(
    z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() }),
  ),
});

/** SearXNG answers JSON only where its settings allow that format. */
export const searxng: SearchAdapter = {
  ask({ base_url: base = '', default_language: language, api_key: key }, query) {
    const search = new URLSearchParams({
      q: query,
      format: 'json',
      ...(language === undefined ? {} : { language }),
    });
    return {
      url: `${below(base, 'search')}?${search.toString()}`,
      headers: bearer(key),
    };
  },
  read: (answer, service) =>
    readAnswer(answer, schema, service).results.map(({ title, url, content }) => ({
      title,
      url,
      snippet: content,
    })),
};
