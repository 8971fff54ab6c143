import * as z from 'zod';
import type { RunIntent } from '../../../core/run.ts';

/** Bounds of what an agent says in a result: characters, or entries. */
const line = z.string().trim().min(1).max(1000);
const prose = z.string().trim().min(1).max(8000);
const path = z.string().trim().min(1).max(1000);

/** Models write lines as text, as ranges, and as 0 where they mean the whole file. */
const lineNumber = z.preprocess((value) => {
  const line = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof line === 'number' && !(line >= 1) ? undefined : line;
}, z.int().min(1).optional());

const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;

/** What each intent's result holds. Further fields of an agent's are dropped. */
export const RESULT_SHAPES: Record<RunIntent, z.ZodType<Record<string, unknown>>> = {
  plan: z.object({
    summary: prose,
    steps: z
      .array(z.object({ title: line, detail: prose.optional(), files: z.array(path).max(200).optional() }))
      .min(1)
      .max(200),
    risks: z
      .array(z.object({ risk: prose, mitigation: prose.optional() }))
      .max(100)
      .default([]),
  }),
  review: z.object({
    summary: prose,
    findings: z
      .array(
        z.object({
          file: path,
          line: lineNumber,
          severity: z.preprocess(
            (value) => (typeof value === 'string' ? value.toLowerCase() : value),
            z.enum(SEVERITIES),
          ),
          title: line,
          detail: prose.optional(),
        }),
      )
      .max(200),
  }),
  delegate: z.object({
    summary: prose,
    changedFiles: z.array(path).max(2000),
    followUps: z.array(prose).max(100).optional(),
  }),
  voice_agent: z.object({ spoken: prose }),
};
