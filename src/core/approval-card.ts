import type { Approval } from './approval.ts';
import type { ApprovalNotice, Caller } from './call.ts';
import { toShortText, toVisibleText } from './visible-text.ts';

/** What a person reads first of a request: the action and its input, nothing hidden, both ends of what is long. */
export function toSummary(title: string, input: Record<string, unknown>): string {
  const fields = Object.entries(input).map(
    ([key, value]) => `${key}: ${toShortText(JSON.stringify(value) ?? '', 60)}`,
  );
  const text = fields.length === 0 ? title : `${title} (${fields.join(', ')})`;
  return toShortText(toVisibleText(text, { singleLine: true }), 300);
}

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
