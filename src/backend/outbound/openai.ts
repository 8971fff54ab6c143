import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { Outbound } from '../../core/ports/host.ts';
import type { ModelEndpoint } from '../../core/ports/memory.ts';
import { readAnswer } from './answer.ts';

/** Milliseconds for an answer of a model, and for vectors. */
const CHAT_MS = 60_000;
const EMBED_MS = 30_000;

/** Characters of an answer that are kept. */
const MAX_ANSWER = 20_000;

const chatSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
});
const embeddingSchema = z.object({
  data: z.array(
    z.object({ index: z.int().min(0).optional(), embedding: z.array(z.number()).min(1).max(8192) }),
  ),
});

/** An endpoint that speaks the API of OpenAI: text from messages. It is given no tools. @throws provider_failed */
export async function chat(
  outbound: Outbound,
  endpoint: ModelEndpoint,
  messages: { role: 'system' | 'user'; content: string }[],
  signal: AbortSignal,
): Promise<string> {
  const answer = await ask(outbound, endpoint, 'chat/completions', { messages }, CHAT_MS, signal);
  const content = readAnswer(answer, chatSchema, nameOf(endpoint)).choices[0]?.message.content?.trim() ?? '';
  if (content !== '') return content.slice(0, MAX_ANSWER);
  throw new KaiwuError('provider_failed', `${nameOf(endpoint)} answered with no text.`);
}

/** One vector for each text, in their order. @throws provider_failed */
export async function embed(
  outbound: Outbound,
  endpoint: ModelEndpoint,
  texts: string[],
  signal: AbortSignal,
): Promise<number[][]> {
  const answer = await ask(outbound, endpoint, 'embeddings', { input: texts }, EMBED_MS, signal);
  const { data } = readAnswer(answer, embeddingSchema, nameOf(endpoint));
  const vectors = data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ embedding }) => embedding);
  if (vectors.length === texts.length) return vectors;
  throw new KaiwuError(
    'provider_failed',
    `${nameOf(endpoint)} made ${vectors.length} vectors of ${texts.length} texts.`,
  );
}

const ask = (
  outbound: Outbound,
  { base_url: base, model, api_key: key }: ModelEndpoint,
  path: string,
  body: object,
  timeoutMs: number,
  signal: AbortSignal,
) =>
  outbound({
    url: `${base.replace(/\/+$/, '')}/${path}`,
    body: { model, ...body },
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    timeoutMs,
    signal,
  });

const nameOf = ({ model }: ModelEndpoint): string => `The model ${model}`;
