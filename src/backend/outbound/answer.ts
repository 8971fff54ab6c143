import type * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { quote } from '../../core/quote.ts';

/** What a service answered, in the shape that it has to have. @throws provider_failed naming the service and what was received */
export function readAnswer<T>(
  { status, text }: { status: number; text: string },
  schema: z.ZodType<T>,
  service: string,
): T {
  if (status < 200 || status > 299) {
    throw new KaiwuError('provider_failed', `${service} answered with HTTP ${status}: ${quote(text)}.`, {
      ...(status === 401 || status === 403 ? { hint: 'Check its key.' } : {}),
      details: { status },
    });
  }
  const parsed = schema.safeParse(parse(text));
  if (parsed.success) return parsed.data;
  throw new KaiwuError(
    'provider_failed',
    `${service} answered something else than expected: ${quote(text)}.`,
    {
      hint: 'Check its address: it has to be the base of the API.',
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
