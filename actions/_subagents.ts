import * as z from 'zod';
import { SUBAGENT_INTENTS, type Subagent } from '../src/core/ports/assistant.ts';
import { permissionMode } from './_shapes.ts';

export const subagentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'must be small letters, digits and hyphens, 1 to 60')
  .describe('Id of the sub-agent.');

export const subagentFields = {
  name: z.string().trim().min(1).max(100).describe('Name for people.'),
  description: z.string().trim().min(1).max(500).describe('What it is good for, one sentence.'),
  intent: z
    .enum(SUBAGENT_INTENTS)
    .describe('What its work is: review (findings), plan (steps and risks) or delegate (does the work).'),
  permissionMode: permissionMode
    .optional()
    .describe('What it may do unasked. Default: as for any run of its intent.'),
  prompt: z.string().trim().min(1).max(50_000).describe('What it is told before the work itself, Markdown.'),
};

const source = z
  .enum(['built_in', 'account'])
  .describe('built_in comes with Kaiwu; account was written by somebody.');

export const subagent = z.object({ id: subagentId, ...subagentFields, source });
export const subagentRow = subagent.omit({ prompt: true });

export const toRow = ({ id, name, description, intent, permissionMode, source }: Subagent) => ({
  id,
  name,
  description,
  intent,
  permissionMode,
  source,
});
