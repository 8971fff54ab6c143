import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { toIssueText } from '../../core/issue-text.ts';
import { findJsonFault } from '../../core/json-position.ts';
import { misspelt } from '../../core/nearest.ts';

/** Largest body of a call, bytes. */
export const MAX_CALL_BYTES = 8 * 1024 * 1024;

/** Largest body of a request that carries no token yet, bytes. */
export const MAX_SIGN_IN_BYTES = 16 * 1024;

/** Milliseconds for the whole of a JSON body. */
const BODY_MS = 120_000;

/**
 * Reads a JSON body, decoded whole, so that no character is cut between two reads.
 * @throws payload_too_large | invalid_input | canceled when the caller goes away
 */
export async function readJson(incoming: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(incoming, maxBytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badBody('is not UTF-8', {});
  }
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    const found = JSON.stringify(text.slice(fault.position, fault.position + 1));
    const what = fault.position >= text.length ? 'it ends too early' : `unexpected ${found}`;
    throw badBody(
      `is not JSON: ${what} at position ${fault.position} (line ${fault.line}, column ${fault.column})`,
      { ...fault },
    );
  }
}

/** Reads and checks a small JSON body. @throws payload_too_large | invalid_input */
export async function readChecked<T>(
  incoming: IncomingMessage,
  schema: z.ZodType<T>,
  maxBytes: number,
): Promise<T> {
  const body = await readJson(incoming, maxBytes);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => toIssues(issue, schema)).slice(0, 10);
  const told = issues.map(({ path, message }) => `${path || 'body'}: ${message}`).join('; ');
  throw new KaiwuError('invalid_input', `The request body is not valid: ${told}.`, { details: { issues } });
}

/** An unknown key is told by name, with the one that was meant. */
function toIssues(issue: z.core.$ZodIssue, schema: z.ZodType): { path: string; message: string }[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: toIssueText(issue) }];
  let at: unknown = schema;
  for (const key of path) at = shapeOf(at)[key];
  const known = Object.keys(shapeOf(at));
  return issue.keys.map((key) => {
    const meant = misspelt(key, known);
    const advice = meant === undefined ? `known are ${known.join(', ')}` : `use ${meant}`;
    return { path: [...path, key.slice(0, 80)].join('.'), message: `not known here; ${advice}` };
  });
}

const shapeOf = (schema: unknown): Record<string, unknown> =>
  (schema as { shape?: Record<string, unknown> } | undefined)?.shape ?? {};

function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The server's own limit leaves time for large uploads.
    const late = setTimeout(() => {
      incoming.pause();
      settle(() => reject(new KaiwuError('timeout', 'The request was not whole in time.')));
    }, BODY_MS);
    const settle = (finish: () => void) => {
      clearTimeout(late);
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      incoming.pause();
      settle(() => reject(tooLarge(maxBytes)));
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, size)));
    const onGone = () =>
      settle(() => reject(new KaiwuError('canceled', 'The caller went away before its request was whole.')));
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (incoming.readableEnded) onEnd();
    else if (incoming.destroyed) onGone();
  });
}

const badBody = (message: string, details: Record<string, unknown>) =>
  new KaiwuError('invalid_input', `The request body ${message}.`, {
    hint: 'Send one JSON object, UTF-8.',
    details: { issues: [{ path: '', message }], ...details },
  });

const tooLarge = (maxBytes: number) =>
  new KaiwuError('payload_too_large', `The request body is larger than ${maxBytes} bytes.`, {
    details: { maxBytes },
  });
