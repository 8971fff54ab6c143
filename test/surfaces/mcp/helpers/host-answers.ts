import type { Envelope } from '../../../../src/core/call.ts';
import type { ErrorCode } from '../../../../src/core/errors.ts';
import type { ReceivedCall } from './fake-backend.ts';

const ok = (output: Record<string, unknown>): Envelope => ({ status: 'ok', output });
export const refuse = (code: ErrorCode, message = `Refused with ${code}.`): Envelope => ({
  status: 'error',
  error: { code, message, hint: 'Do otherwise.', retryable: false },
});

export const SESSION = 'kaiwu://sessions/sess_1';
export const TRANSCRIPT = `${SESSION}/transcript`;
export const SECRET = 'kaiwu://sessions/sess_secret';

const read = (uri: unknown): Envelope => {
  if (typeof uri !== 'string' || uri.trim() === '') return refuse('invalid_input');
  const [, sessionId, rest] = /^kaiwu:\/\/sessions\/(\w+)(\/transcript)?$/.exec(uri) ?? [];
  if (uri === 'kaiwu://prompts/identity') return ok({ uri, mimeType: 'text/markdown', text: '# Who\u202e' });
  if (sessionId === undefined) return refuse('not_found');
  if (sessionId === 'sess_none') return refuse('session_not_found');
  if (uri.startsWith(SECRET)) return refuse('action_disabled', 'Off by policy.');
  const event = rest === undefined ? 'session.changed' : 'transcript.appended';
  const text = JSON.stringify({ sessionId, title: 'T\u200b\u{e0041}' });
  return ok({ uri, mimeType: 'application/json', text, changes: { event, sessionId } });
};

/** Answers what hosts ask for as the real actions do. */
export function answerHost({ actionId, input }: Pick<ReceivedCall, 'actionId' | 'input'>): Envelope {
  const fields = (input ?? {}) as Record<string, unknown>;
  switch (actionId) {
    case 'host.resources.list':
      return ok({
        resources: [{ uri: 'kaiwu://catalog', name: 'catalog', title: 'C', mimeType: 'application/json' }],
      });
    case 'host.resources.templates.list':
      return ok({ templates: [{ uriTemplate: 'kaiwu://sessions/{sessionId}', name: 'session' }] });
    case 'host.resources.read':
      return read(fields['uri']);
    case 'host.prompts.list':
      return ok({
        prompts: [
          {
            name: 'plan',
            title: 'Plan',
            description: 'Plans.',
            arguments: [{ name: 'what', description: 'Which.' }],
          },
        ],
      });
    case 'host.prompts.get':
      if (fields['name'] !== 'plan') return refuse('not_found');
      return ok({
        title: 'Plan',
        description: 'Plans.',
        text: `Plan ${JSON.stringify(fields['arguments'])}`,
      });
    case 'host.completion.complete':
      return ok({ values: [JSON.stringify(fields)], total: 1, hasMore: false });
    default:
      return ok({ done: true });
  }
}
