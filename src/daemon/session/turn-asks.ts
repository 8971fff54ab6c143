import type { AgentFeature } from '../../core/agent.ts';
import type { PermissionMode, SessionEventBody } from '../../core/session.ts';
import type { PermissionOutcome } from '../acp/connection.ts';
import type { Json } from '../acp/json.ts';
import type { QuestionOutcome } from '../acp/questions.ts';
import type { Continuation } from '../journal/rows.ts';
import { createDesk, type Desk } from './desk.ts';
import { allInside } from './inside.ts';
import { createPermissions, toolCallOf } from './permissions.ts';
import { toQuestion, toQuestionAsk } from './questions.ts';
import { pathsOf } from './tool-paths.ts';
import type { TurnTranscript } from './transcript.ts';

/** What an agent asks during one turn. */
export interface TurnAsks extends Pick<Desk, 'answer' | 'close'> {
  onPermission(params: Json, signal: AbortSignal): Promise<PermissionOutcome>;
  onQuestion(params: Json, signal: AbortSignal): Promise<QuestionOutcome>;
  /** Leaves what is open to the next daemon, where the agent can go on then. Answers whether it does. */
  leave(features: AgentFeature[]): boolean;
}

export function createTurnAsks(options: {
  messageId: string;
  transcript: Pick<TurnTranscript, 'toolCall'>;
  /** Where the session works: the agent's directory first. */
  folders: string[];
  mode(): PermissionMode;
  append(events: SessionEventBody[]): void;
  newId(): string;
  limitMs: number;
  continuation?: Continuation;
  onAllowed(kind: string): void;
  onOpen(isOpen: boolean): void;
}): TurnAsks {
  const { messageId, continuation, folders } = options;
  const { requestId = '', answered } = continuation ?? {};
  const desk = createDesk({ ...options, answered: answered === undefined ? [] : [[requestId, answered]] });
  const wholeCalls = new WeakSet<Json>();
  const askPermission = createPermissions({
    ...options,
    desk,
    grant: continuation?.grant,
    async isInside(call) {
      const paths = wholeCalls.has(call) ? pathsOf(call) : undefined;
      return paths !== undefined && allInside(paths, folders[0] ?? '/', folders);
    },
  });

  return {
    answer: desk.answer,
    close: desk.close,
    onPermission(params, signal) {
      const { known, isWhole } = options.transcript.toolCall(toolCallOf(params));
      if (isWhole) wholeCalls.add(known);
      return askPermission(known, params, signal);
    },
    onQuestion: (params, signal) =>
      new Promise((settle) =>
        desk.put(toQuestionAsk(messageId, toQuestion(options.newId(), params), settle), signal),
      ),
    leave(features) {
      if (!desk.isOpen || !canGoOn(features)) return false;
      desk.leave();
      return true;
    },
  };
}

/** A conversation that the agent cannot come back to ends with its process. */
export const canGoOn = (features: AgentFeature[]): boolean =>
  features.includes('load') || features.includes('resume');
