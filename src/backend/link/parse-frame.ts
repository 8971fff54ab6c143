import type * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { toIssueText } from '../../core/issue-text.ts';

/** @throws invalid_input naming the first thing that is wrong; values are not repeated, they may be anything */
export function parseFrame<T>(schema: z.ZodType<T>, params: unknown, method: string): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 10)
    .map((issue) => ({ path: issue.path.map(String).join('.'), message: toIssueText(issue) }));
  const first = issues[0];
  throw new KaiwuError(
    'invalid_input',
    `${method} is not valid: ${first?.path || 'params'}: ${first?.message}`,
    {
      details: { issues },
    },
  );
}
