import { toInputDigest } from '../../core/digest.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { AuditPort } from '../../core/ports/governance.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';

/** Writes down a sign-in, a sign-out, or the attempt of an agent at one. A failing log fails nobody's sign-in. */
export type AuthAudit = (event: {
  /** `auth.bootstrap` and the like: stands where calls have their action's id. */
  name: string;
  /** Where it was tried from. Default: the command line. */
  surface?: 'cli' | 'app';
  /** Token that it was about, where there is one. */
  bearer?: { tokenId: string; deviceId?: string };
  /** Session of the agent that tried. */
  sessionId?: string;
  /** Nothing secret. */
  input?: Record<string, unknown>;
  /** Why it was refused. */
  code?: ErrorCode;
}) => Promise<void>;

export function createAuthAudit(options: {
  audit: Pick<AuditPort, 'append'>;
  runtime: Pick<Runtime, 'now' | 'sha256'>;
  log: Logger;
}): AuthAudit {
  const { audit, runtime, log } = options;
  return async ({ name, surface = 'cli', bearer, sessionId, input = {}, code }) => {
    const row = {
      at: runtime.now().toISOString(),
      surface,
      client: surface,
      tokenId: bearer?.tokenId ?? '',
      ...(bearer?.deviceId === undefined ? {} : { deviceId: bearer.deviceId }),
      ...(sessionId === undefined ? {} : { sessionId }),
      actionId: name,
      effect: 'write',
      input,
      inputDigest: toInputDigest(runtime, name, input),
      outcome: code === undefined ? ('ok' as const) : ('error' as const),
      ...(code === undefined ? {} : { code }),
      durationMs: 0,
    };
    await audit.append(row).catch((error) => log.error({ error, name }, 'could not write an audit row'));
  };
}
