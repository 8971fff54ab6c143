import type { Approval } from './approval.ts';
import type { ApprovalNotice, Caller, TokenScope } from './call.ts';
import { inScope } from './policy.ts';
import type { SessionsPort } from './ports/sessions.ts';
import { redact } from './redact.ts';
import { isReachable } from './resolve-session.ts';
import { toShortText, toVisibleText } from './visible-text.ts';

/** Characters of a summary, shared between its fields. */
const SUMMARY_LENGTH = 300;

/**
 * What a person reads first of a request: the action and every field that it would run with, each with both of its ends.
 * @param order names of fields; the same call reads the same at every door, whatever the door filled in last
 */
export function toSummary(title: string, input: Record<string, unknown>, order: readonly string[]): string {
  const names = new Set([...order.filter((name) => name in input), ...Object.keys(input)]);
  const values = [...names].map((name) => ({ name, text: JSON.stringify(input[name]) ?? '' }));
  const room = Math.max(24, Math.floor((SUMMARY_LENGTH - title.length) / Math.max(1, values.length)));
  const fields = values
    // What is short is said first: a long text must not push it out of sight.
    .toSorted((a, b) => a.text.length - b.text.length)
    .map(({ name, text }) => `${name}: ${toShortText(text, room)}`);
  return toVisibleText(fields.length === 0 ? title : `${title} (${fields.join(', ')})`, { singleLine: true });
}

/** A request as it leaves the backend, without what looks like a credential. The one that runs is the one that is stored. */
export function toShown(approval: Approval, secrets: readonly string[] | undefined): Approval {
  const { confirmation } = approval;
  const heard = confirmation === undefined ? undefined : { words: confirmation.words };
  const shown = {
    ...approval,
    confirmation: heard,
    triesLeft: undefined,
    input: redact(approval.input, secrets),
  };
  return redact(shown) as unknown as Approval;
}

export function toRequester(caller: Caller): Approval['requester'] {
  const { surface, client, tokenId, tokenKind, scope, deviceId, machineId, sessionId } = caller;
  return {
    surface,
    client,
    tokenId,
    tokenKind,
    scope,
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(machineId === undefined ? {} : { machineId }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** It runs with the requester's surface, machine and session, whoever decided. */
export const toCallerAgain = ({ requester }: Approval): Caller => ({
  ...requester,
  tokenKind: requester.tokenKind ?? 'device',
  scope: requester.scope ?? {},
  approved: true,
});

/** What a gated call answers. `remaining` counts further requests that the caller may have pending. */
export function toNotice(approval: Approval, remaining: number): ApprovalNotice {
  const { artifactId, actionId, summary, status, expiresAt, count } = approval;
  return {
    kind: 'approval_request_created',
    artifactId,
    actionId,
    summary,
    status,
    expiresAt,
    decideWith: `kaiwu approval request decide ${artifactId} approve`,
    waitWith: `kaiwu approval request get ${artifactId} --wait-seconds 45`,
    count,
    remaining,
  };
}

/** The caller is the requester, as far as a token and a surface can tell. */
export const isOwn = ({ requester }: Approval, { tokenId, tokenKind, surface, scope }: Caller): boolean =>
  requester.surface === surface &&
  (requester.tokenId === tokenId ||
    // The agent of a session gets a new token at each start.
    (tokenKind === 'agent' &&
      requester.tokenKind === 'agent' &&
      scope.sessionId !== undefined &&
      requester.scope?.sessionId === scope.sessionId));

/** A limited token says yes to no more than it could do itself. */
export const reaches = async (
  scope: TokenScope,
  { actionId, sessionId, requester }: Approval,
  sessions: SessionsPort,
): Promise<boolean> =>
  inScope(actionId, scope) &&
  (scope.surfaces?.includes(requester.surface) ?? true) &&
  isReachable(sessions, sessionId, scope.sessionId);
