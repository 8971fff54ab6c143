import type { CallContext } from '../../core/call.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { ActionManifest } from '../../core/spec.ts';
import type { BackendLink } from './backend-link.ts';

const SESSION_CODES = ['session_not_found', 'session_ambiguous', 'forbidden'];

/**
 * Says on stderr, where hosts show it, that the session which the server was started for cannot be used: each call that needs
 * one would fail. Asked by the first action that only reads and takes no more than a session.
 */
export async function checkDefaultSession(options: {
  backend: BackendLink;
  builtin(): Promise<ActionManifest[]>;
  context: CallContext;
  log: Logger;
}): Promise<void> {
  const { sessionId, surface } = options.context;
  // An agent's own session is there by its being asked from.
  if (sessionId === undefined || surface !== 'mcp') return;
  const reads = (await options.builtin()).find(
    ({ effect, session, inputSchema }) =>
      effect === 'read' &&
      session !== 'none' &&
      session.need === 'required' &&
      (inputSchema.required ?? []).length === 0,
  );
  if (reads === undefined) return;
  const backend = await options.backend.get();
  const outcome = await backend.execute({ actionId: reads.id, input: {}, context: options.context });
  if (outcome.status !== 'error' || !SESSION_CODES.includes(outcome.error.code)) return;
  const { code, message, hint = '' } = outcome.error;
  options.log.warn({ session: sessionId }, `--session: ${code}: ${message} ${hint}`.trim());
}
