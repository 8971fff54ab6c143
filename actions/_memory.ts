import * as z from 'zod';
import type { KaiwuError } from '../src/core/errors.ts';
import { LEARNING_KINDS, MEMORY_KINDS } from '../src/core/ports/memory.ts';

/** Lengths are checked and not told: they would stand in the list of tools a dozen times over. */
const isShort = (text: string): boolean => text.length >= 1 && text.length <= 4096;

const part = (what: string) =>
  z.string().refine(isShort, 'must have 1 to 4096 characters').optional().describe(what);

/** What an item is about: fields of a filter, of a learning and of a document alike. */
const scopeFields = {
  workspace: part('Folder of the project.'),
  folder: part('Folder in it.'),
  file_path: part('File.'),
  language: part('Programming or natural language.'),
  repo: part('Repository.'),
  commit: part('Commit.'),
  url: part('Address.'),
  thread_id: part('Session or thread.'),
  agent_id: part('Agent.'),
};

export const scope = z.object(scopeFields).describe('What it is about.');

const moment = z
  .string()
  .refine(
    (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
    'must be a time of RFC 3339, such as 2026-01-31T08:00:00Z',
  )
  .transform((text) => new Date(text).toISOString());

const texts = (max: number) =>
  z
    .array(z.string().refine(isShort, 'must have 1 to 4096 characters'))
    .refine((list) => list.length <= max, `must have at most ${max}`);

export const tags = texts(50).default([]).describe('Words to find it by.');

export const filter = z
  .object({
    ...scopeFields,
    kinds: z.array(z.enum(MEMORY_KINDS)).optional().describe('document, conversation, learning.'),
    sources: texts(50).optional().describe('Labels of clients that it came from, such as mcp:cursor.'),
    tags_any: texts(50).optional().describe('Any of these tags.'),
    observed_after: moment.optional().describe('RFC 3339.'),
    observed_before: moment.optional().describe('RFC 3339.'),
  })
  .default({})
  .describe('Only what fits all of it.');

export const learningKind = z
  .enum(LEARNING_KINDS)
  .describe('preference, fact, procedure, correction or other.');

export const memoryLimit = z.int().min(1).max(100).default(10).describe('1 to 100. Default 10.');

export const item = z.object({
  id: z.string().describe('Id.'),
  kind: z.enum(MEMORY_KINDS).describe('Kind.'),
  learning_kind: learningKind.optional(),
  text: z.string().describe('The passage.'),
  confidence: z.number().optional().describe('0 to 1.'),
  sources: z.array(z.string()).describe('Clients that it came from.'),
  tags: z.array(z.string()).describe('Tags.'),
  ...scopeFields,
  observed_at: z.string().describe('When it was so, RFC 3339.'),
  created_at: z.string().describe('When it was stored, RFC 3339.'),
});

export const hit = item.extend({ score: z.number().describe('Higher is better, within this answer.') });

const endpointFields = {
  base_url: z
    .string()
    .max(2000)
    .refine(
      (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
      'must be an address with http or https',
    )
    .describe('Base of an API like that of OpenAI, such as http://127.0.0.1:11434/v1.'),
  model: z.string().min(1).max(200).describe('Model.'),
};

export const endpoint = z
  .object({ ...endpointFields, api_key: z.string().max(4096).optional().describe('Key. Kept sealed.') })
  .nullable()
  .optional();

const shownEndpoint = z
  .object({
    ...endpointFields,
    base_url: z.string().describe('Base of the API.'),
    has_key: z.boolean().describe('A key is set.'),
  })
  .optional();

export const settings = z.object({
  enabled: z.boolean().describe('Whether memory is on.'),
  remember_turns: z.boolean().describe('Finished turns of sessions are remembered.'),
  recall_model: shownEndpoint.describe('Writes the answers of recall.'),
  embeddings: shownEndpoint.describe('Makes the vectors of mode hybrid.'),
  items: z.int().describe('Passages that are remembered.'),
});

/** Columns that lists of items share. */
export const itemColumns = [
  'id',
  'kind',
  { label: 'about', of: ['file_path', 'url', 'thread_id', 'repo'] },
  { label: 'observed', of: ['observed_at'] },
  { label: 'text', of: ['text'], whole: true as const },
];

export const memoryErrors = ['memory_off', 'invalid_input'] satisfies KaiwuError['code'][];
