import type { Caller } from './call.ts';
import { KaiwuError } from './errors.ts';
import type { SessionsPort } from './ports/sessions.ts';
import type { ActionData } from './spec.ts';

/** Most candidates that an ambiguous prefix names. */
const MAX_CANDIDATES = 10;

type Sessions = Pick<SessionsPort, 'findByPrefix' | 'isWithin'>;

/**
 * Replaces an id or unambiguous prefix by the full id, or fills in the caller's session where one is required. A token for one
 * session is good for that session and those that it started, at any depth.
 * @returns the session's id; undefined when the action works without one
 * @throws session_not_selected | session_not_found | session_ambiguous | forbidden
 */
export async function resolveSession(
  spec: ActionData,
  input: Record<string, unknown>,
  caller: Caller,
  sessions: Sessions,
): Promise<string | undefined> {
  const only = caller.scope.sessionId;
  if (spec.session === 'none') {
    if (only !== undefined && spec.anySession !== true) throw beyondSession(spec.id, only);
    return undefined;
  }
  const { need, field } = spec.session;
  // A token for one session never means all of them by naming none.
  const given =
    (input[field] as string | undefined) ?? only ?? (need === 'required' ? caller.sessionId : undefined);
  if (given === undefined && need === 'optional') return undefined;
  if (given === undefined) throw notSelected(spec.id, field);
  const sessionId =
    only === undefined ? await find(given, sessions) : await findWithin(only, given, sessions);
  input[field] = sessionId;
  return sessionId;
}

async function find(given: string, sessions: Sessions): Promise<string> {
  const found = await sessions.findByPrefix(given, MAX_CANDIDATES + 1);
  const [session] = found;
  if (session === undefined) throw /^(sess_?)?$/.test(given) ? tooShort(given) : notFound(given);
  if (found.length > 1) throw ambiguous(given, found);
  return session.sessionId;
}

/** What lies beyond the token's session is not told from what does not exist, nor named among candidates. */
async function findWithin(only: string, given: string, sessions: Sessions): Promise<string> {
  if (given === only) return only;
  const found = await sessions.findByPrefix(given, MAX_CANDIDATES + 1);
  if (found.length > MAX_CANDIDATES) throw beyondSession(given, only);
  const within = await Promise.all(found.map(({ sessionId }) => isReachable(sessions, sessionId, only)));
  const reachable = found.filter((_, i) => within[i]);
  const [session] = reachable;
  if (session === undefined) throw beyondSession(given, only);
  if (reachable.length > 1) throw ambiguous(given, reachable);
  return session.sessionId;
}

/** Whether a session is within reach of a token that is held to one session, or to none. */
export async function isReachable(
  sessions: Pick<SessionsPort, 'isWithin'>,
  sessionId: string | undefined,
  only: string | undefined,
): Promise<boolean> {
  if (only === undefined || sessionId === only) return true;
  return sessionId !== undefined && sessions.isWithin(sessionId, only);
}

const beyondSession = (received: string, sessionId: string) =>
  new KaiwuError(
    'forbidden',
    `This token is good for session ${sessionId} and those that it started, and ${received} is not among them.`,
    {
      hint: 'Use the whole id of a session that was started from this one, or a token that is not held to a session.',
      details: { received, sessionId },
    },
  );

const notSelected = (actionId: string, field: string) =>
  new KaiwuError('session_not_selected', `${actionId} works on a session and none was named.`, {
    hint: `Pass ${field}, or start the server with --session <id>. List the sessions to find one.`,
  });

const tooShort = (given: string) =>
  new KaiwuError(
    'session_ambiguous',
    `${JSON.stringify(given)} is too short to name a session: every id begins so.`,
    {
      hint: 'Use more of the id. Nothing was done.',
      details: { received: given, candidates: [] },
    },
  );

const notFound = (given: string) =>
  new KaiwuError(
    'session_not_found',
    `No session has the id ${JSON.stringify(given)} or an id that starts with it.`,
    {
      hint: 'List the sessions, archived ones too, to see their ids.',
      details: { received: given },
    },
  );

function ambiguous(given: string, found: Awaited<ReturnType<SessionsPort['findByPrefix']>>): KaiwuError {
  const candidates = found.slice(0, MAX_CANDIDATES).map(({ sessionId, title, status }) => ({
    sessionId,
    ...(title === undefined ? {} : { title }),
    status,
  }));
  const more = found.length > MAX_CANDIDATES ? ' and more' : '';
  const named = candidates.map(({ sessionId }) => sessionId).join(', ');
  return new KaiwuError(
    'session_ambiguous',
    `${JSON.stringify(given)} fits several sessions: ${named}${more}.`,
    {
      hint: 'Use more of the id. Nothing was done.',
      details: { received: given, candidates },
    },
  );
}
