import type { Approval } from './approval.ts';
import type { ApprovalNotice, Caller } from './call.ts';
import { redact } from './redact.ts';
import { toShortText, toVisibleText } from './visible-text.ts';

/**
 * What a person reads first of a request: the action and its input, nothing hidden, both ends of what is long.
 * @param order names of fields; the same call reads the same at every door, whatever the door filled in last
 */
export function toSummary(title: string, input: Record<string, unknown>, order: readonly string[]): string {
  const names = new Set([...order.filter((name) => name in input), ...Object.keys(input)]);
  const fields = [...names].map((name) => `${name}: ${toShortText(JSON.stringify(input[name]) ?? '', 60)}`);
  const text = fields.length === 0 ? title : `${title} (${fields.join(', ')})`;
  return toShortText(toVisibleText(text, { singleLine: true }), 300);
}

/** A request as it leaves the backend, without what looks like a credential. The one that runs is the one that is stored. */
export const toShown = (approval: Approval, secrets: readonly string[] | undefined): Approval =>
  redact({ ...approval, input: redact(approval.input, secrets) }) as unknown as Approval;

export function toRequester(caller: Caller): Approval['requester'] {
  const { surface, client, tokenId, deviceId, machineId, sessionId } = caller;
  return {
    surface,
    client,
    tokenId,
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(machineId === undefined ? {} : { machineId }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** It runs with the requester's surface, machine and session, whoever decided. */
export const toCallerAgain = ({ requester }: Approval): Caller => ({
  ...requester,
  tokenKind: 'device',
  scope: {},
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
