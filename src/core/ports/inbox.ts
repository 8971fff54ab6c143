import type { Approval } from '../approval.ts';
import type { Page, PageRequest } from '../page.ts';
import type { FailureReason, PermissionRequest, Question } from '../session.ts';

export const INBOX_KINDS = ['approval', 'permission', 'question', 'failed', 'stalled'] as const;
export type InboxKind = (typeof INBOX_KINDS)[number];

/** One thing that waits for a person, on whatever machine. */
export interface InboxItem {
  /** Approval id, request id, or the session's own id. */
  itemId: string;
  kind: InboxKind;
  /** What is asked or what happened, one line. */
  title: string;
  /** Since when, RFC 3339. */
  at: string;
  sessionId?: string;
  machineId?: string;
  agentId?: string;
  /** Sessions from the root down to the one that asks; one entry for a root itself. */
  lineage: { sessionId: string; title?: string }[];
  approval?: Approval;
  permission?: PermissionRequest;
  question?: Question;
  reason?: FailureReason;
}

/** Everything that waits for a person: approvals, permission requests, questions, failed and stalled sessions. */
export interface InboxPort {
  /** Newest first. `sessionId`: only what that session and those below it ask. */
  list(filter: { kind?: InboxKind; sessionId?: string }, page: PageRequest): Promise<Page<InboxItem>>;
}
