import { AGENT_SESSION_VARIABLE } from '../core/agent-mark.ts';
import type { CallContext, Envelope } from '../core/call.ts';
import type { Invocation, RunAction } from '../surfaces/cli/command.ts';
import type { App } from './app.ts';
import {
  openAuth,
  openBackend,
  optional,
  requireCredentials,
  resolveTarget,
  type Target,
} from './connection.ts';

/** Runs one action for the command line, at the backend that its flags choose. */
export async function runAction(
  app: App,
  ...[actionId, invocation, context]: Parameters<RunAction>
): Promise<Envelope> {
  const target = await resolveTarget(app, invocation.flags, true);
  const client = await openBackend(app, target);
  const { input, idempotencyKey, signal } = invocation;
  const call = {
    actionId,
    input,
    context: asAgent(app, context),
    ...optional('idempotencyKey', idempotencyKey),
  };
  const envelope = await client.execute(call, signal);
  return explain(app, target, actionId, invocation, envelope);
}

/** Inside an agent's session the command line is the agent's, and works on that session. */
function asAgent(app: App, context: CallContext): CallContext {
  const sessionId = app.env[AGENT_SESSION_VARIABLE];
  if (!sessionId) return context;
  return { ...context, surface: 'agent', client: 'agent:cli', sessionId: context.sessionId ?? sessionId };
}

/** An action that this command knows and the backend does not: one of the two is too old, and both versions are told. */
async function explain(
  app: App,
  target: Target,
  actionId: string,
  { signal }: Invocation,
  envelope: Envelope,
): Promise<Envelope> {
  if (envelope.status !== 'error' || envelope.error.code !== 'unknown_action') return envelope;
  // The action that is missing may be another one, named in the input.
  if (envelope.error.details?.received !== actionId) return envelope;
  const { token } = await requireCredentials(app, target);
  const { backendVersion } = await (await openAuth(app, target, token)).whoami(signal);
  if (backendVersion === app.version) return envelope;
  const hint = `The backend at ${target.url} is version ${backendVersion}, this command is ${app.version}: update the older one.`;
  return { status: 'error', error: { ...envelope.error, hint } };
}
