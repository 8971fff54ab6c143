import * as z from 'zod';
import { readAnswer } from '../outbound/answer.ts';
import { type AnswerAdapter, below } from './adapter.ts';

const schema = z.object({
  candidates: z
    .array(
      z.object({
        content: z
          .object({
            parts: z
              .array(z.object({ text: z.string().nullish(), thought: z.boolean().nullish() }))
              .nullish(),
          })
          .nullish(),
        groundingMetadata: z
          .object({
            groundingChunks: z
              .array(
                z.object({
                  web: z.object({ uri: z.string().nullish(), title: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .min(1),
});

const DEEP = 'Search for several independent sources before you answer, and compare them.';

export const gemini: AnswerAdapter = {
  ask: (
    { base_url: base = 'https://generativelanguage.googleapis.com/v1beta', model = '', api_key: key = '' },
    question,
    depth,
  ) => ({
    url: below(base, `models/${encodeURIComponent(model)}:generateContent`),
    body: {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      ...(depth === 'deep' ? { systemInstruction: { parts: [{ text: DEEP }] } } : {}),
      tools: [{ google_search: {} }],
    },
    headers: { 'x-goog-api-key': key },
  }),
  read(answer, service) {
    const candidate = readAnswer(answer, schema, service).candidates[0];
    const parts = candidate?.content?.parts ?? [];
    return {
      text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
      citations: (candidate?.groundingMetadata?.groundingChunks ?? []).flatMap(({ web }) =>
        web ? [{ url: web.uri, title: web.title }] : [],
      ),
    };
  },
};
