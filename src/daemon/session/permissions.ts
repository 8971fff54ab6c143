import { createHash } from 'node:crypto';
import { KaiwuError } from '../../core/errors.ts';
import { EVENT_LIMITS } from '../../core/link.ts';
import type {
  PermissionMode,
  PermissionOption,
  PermissionRequest,
  SessionEventBody,
} from '../../core/session.ts';
import type { PermissionOutcome } from '../acp/connection.ts';
import { isObject, type Json, objects } from '../acp/json.ts';
import type { Continuation } from '../journal/rows.ts';
import { toShortId } from './bounded.ts';
import type { Ask, Desk, Settlement } from './desk.ts';
import { isFileSending } from './own-tools.ts';
import { allows, judge, optionFor } from './policy.ts';

type Chosen = PermissionOption | undefined;

const CANCELLED: PermissionOutcome = { outcome: { outcome: 'cancelled' } };

/** Answers what an agent asks to be allowed: by the session's mode, by an earlier answer, else by a person. */
export function createPermissions(options: {
  messageId: string;
  desk: Desk;
  mode(): PermissionMode;
  newId(): string;
  /** Whether all that a tool call names lies where the session works. */
  isInside(call: Json): Promise<boolean>;
  /** What a person allowed before the agent was started again. */
  grant: Continuation['grant'];
  /** Hears of each request that was allowed. */
  onAllowed(kind: string): void;
}) {
  const { messageId, desk } = options;
  let { grant } = options;

  /** @param call all that is known of the tool call */
  return async function ask(call: Json, params: Json, signal: AbortSignal): Promise<PermissionOutcome> {
    const kind = typeof call.kind === 'string' ? call.kind : 'other';
    const { toolCallId } = toolCallOf(params);
    const offered = toOptions(params.options);
    const request: PermissionRequest = {
      requestId: options.newId(),
      title: typeof call.title === 'string' ? call.title : kind,
      options: offered.map(({ optionId, name, kind: meaning }) => ({ optionId, name, kind: meaning })),
      kind,
      ...(typeof toolCallId === 'string' ? { toolCallId: toShortId(toolCallId) } : {}),
      subject: toSubject(call),
    };
    const tell = (chosen: Chosen): PermissionOutcome => {
      if (chosen !== undefined && allows(chosen)) options.onAllowed(kind);
      const own = offered.find(({ optionId }) => optionId === chosen?.optionId);
      return own === undefined
        ? CANCELLED
        : { outcome: { outcome: 'selected', optionId: own.agentOptionId } };
    };
    const atOnce = (chosen: Chosen, by: string): PermissionOutcome => {
      desk.note([requested(messageId, request), resolved(messageId, request, chosen, by)]);
      return tell(chosen);
    };

    const inside = kind === 'edit' && options.mode() === 'accept_edits' && (await options.isInside(call));
    if (desk.isClosed) return CANCELLED;
    // Whether that may be done is for Kaiwu's own policy to say; asking here as well would ask twice.
    if (isFileSending(call)) return atOnce(optionFor('allow', request.options), 'policy');
    const mode = options.mode();
    const verdict = judge(mode, kind, inside);
    if (verdict !== 'ask') return atOnce(optionFor(verdict, request.options), `mode:${mode}`);
    const before = takeGrant(request);
    if (before !== undefined) return atOnce(before.option, before.by);
    return new Promise((settle) =>
      desk.put(
        toPermissionAsk(messageId, request, (chosen) => settle(tell(chosen))),
        signal,
      ),
    );
  };

  /** Used once, and only for what was asked. */
  function takeGrant({ kind, title, subject, options: offered }: PermissionRequest) {
    if (grant === undefined || grant.kind !== kind || grant.title !== title) return undefined;
    if (grant.subject !== subject) return undefined;
    const { optionKind, by } = grant;
    const option = offered.find((one) => one.kind === optionKind);
    if (option !== undefined) grant = undefined;
    return option === undefined ? undefined : { option, by };
  }
}

/** A permission request as something that a person settles. */
export function toPermissionAsk(
  messageId: string,
  request: PermissionRequest,
  tell: (chosen: Chosen) => void,
): Ask {
  const settled = (chosen: Chosen): Settlement => ({
    event: (by) => resolved(messageId, request, chosen, by),
    tell: () => tell(chosen),
    continuation: (by) => toContinuation(request, chosen, by),
  });
  return {
    kind: 'permission',
    requestId: request.requestId,
    title: request.title,
    asked: requested(messageId, request),
    read(given) {
      const optionId = given.kind === 'permission' ? given.optionId : undefined;
      const chosen = request.options.find((one) => one.optionId === optionId);
      if (optionId === undefined || chosen !== undefined) return settled(chosen);
      const known = request.options.map((one) => one.optionId).join(', ');
      const message = `optionId ${JSON.stringify(optionId)} is not one of ${known}`;
      throw new KaiwuError('invalid_input', message, {
        details: { issues: [{ path: 'optionId', message, received: optionId }] },
      });
    },
    canceled: () => settled(undefined),
    expired: () => settled(optionFor('refuse', request.options)),
  };
}

const requested = (messageId: string, request: PermissionRequest): SessionEventBody => ({
  type: 'permission_requested',
  messageId,
  request,
});

const resolved = (
  messageId: string,
  { requestId }: PermissionRequest,
  chosen: Chosen,
  by: string,
): SessionEventBody => ({
  type: 'permission_resolved',
  messageId,
  requestId,
  ...(chosen === undefined ? {} : { optionId: chosen.optionId }),
  outcome: chosen === undefined ? 'canceled' : allows(chosen) ? 'allowed' : 'refused',
  by,
});

function toContinuation(request: PermissionRequest, chosen: Chosen, by: string) {
  const { title, kind = 'other', subject } = request;
  const waited = `The program that runs you was restarted while you waited for the permission ${JSON.stringify(title)}.`;
  if (chosen?.kind !== 'allow_once' && chosen?.kind !== 'allow_always') {
    return { text: `${waited} It was refused. Go on without it, and do not try it in another way.` };
  }
  return {
    text: `${waited} It is now allowed. It has not been done yet: do it now, and go on with your task from there.`,
    grant: { kind, title, optionKind: chosen.kind, by, ...(subject === undefined ? {} : { subject }) },
  };
}

const OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** Options with the agent's own ids. Those of a kind that is not known cannot be chosen safely and are left out. */
function toOptions(options: unknown): (PermissionOption & { agentOptionId: string })[] {
  return objects(options)
    .slice(0, EVENT_LIMITS.permissionOptions)
    .flatMap((option) => {
      const kind = OPTION_KINDS.find((known) => known === option.kind);
      if (kind === undefined || typeof option.optionId !== 'string') return [];
      const name = typeof option.name === 'string' ? option.name : option.optionId;
      return [
        {
          agentOptionId: option.optionId,
          optionId: toShortId(option.optionId),
          name: name.slice(0, EVENT_LIMITS.name),
          kind,
        },
      ];
    });
}

/** Digest of what a call would do. Titles tell it in part only, and an agent that is started again words its reasons anew. */
function toSubject({ rawInput, locations, content }: Json): string {
  const { description: _, ...input } = isObject(rawInput) ? rawInput : { rawInput };
  const changes = objects(content).filter(({ type }) => type === 'diff');
  return createHash('sha256')
    .update(JSON.stringify([input, locations, changes]))
    .digest('hex');
}

/** The tool call of a permission request. */
export const toolCallOf = (params: Json): Json => (isObject(params.toolCall) ? params.toolCall : {});
