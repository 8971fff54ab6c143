import * as z from 'zod';
import { readAnswer } from '../outbound/answer.ts';
import { type AnswerAdapter, bearer, below } from './adapter.ts';

const schema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          annotations: z
            .array(
              z.object({
                url_citation: z.object({ url: z.string().nullish(), title: z.string().nullish() }).nullish(),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
});

/** A model that searches by itself, behind an API like that of OpenAI's chat. */
export const openai: AnswerAdapter = {
  ask: ({ base_url: base = 'https://api.openai.com/v1', model, api_key: key }, question, depth) => ({
    url: below(base, 'chat/completions'),
    body: {
      model,
      messages: [{ role: 'user', content: question }],
      web_search_options: { search_context_size: depth === 'deep' ? 'high' : 'low' },
    },
    headers: bearer(key),
  }),
  read(answer, service) {
    const message = readAnswer(answer, schema, service).choices[0]?.message;
    return {
      text: message?.content ?? '',
      citations: (message?.annotations ?? []).flatMap(({ url_citation: cited }) => (cited ? [cited] : [])),
    };
  },
};
