import type { ActionManifest } from './spec.ts';
import type { PolicyAnswer } from './policy.ts';

/**
 * What changed, for everyone who watches: the backend's `GET /v1/events` (SSE). Durable entries carry a rising `id`
 * and can be resumed by it; `delta` entries are live only and carry none.
 */
export type FeedBody =
  /** `waits: false`: nothing in it began to wait for a person. Absent: that is not known. */
  | { type: 'session.changed'; sessionId: string; waits?: boolean }
  | { type: 'message.changed'; sessionId: string; messageId: string }
  | { type: 'transcript.appended'; sessionId: string; fromSeq: number; toSeq: number }
  | { type: 'approval.changed'; artifactId: string; status: string }
  | { type: 'run.changed'; runId: string; sessionId: string }
  /** A file was sent, or removed. */
  | { type: 'file.changed'; fileId: string; sessionId: string }
  | { type: 'policy.changed'; version: number }
  /** Actions came, went or changed: tools of managed servers. */
  | { type: 'catalog.changed' }
  | { type: 'mcp_server.changed'; name: string }
  | { type: 'machine.changed'; machineId: string; online: boolean }
  | {
      type: 'delta';
      sessionId: string;
      messageId: string;
      kind: 'text' | 'thought';
      block: number;
      text: string;
    };

export type FeedEntry = FeedBody & { id?: number; at: string };

/** An action as `GET /v1/catalog?surface=` lists it: the manifest and what the policy says of it there. */
export interface CatalogEntry extends ActionManifest {
  policy: PolicyAnswer;
}

export interface CatalogAnswer {
  surface: string;
  policyVersion: number;
  backendVersion: string;
  actions: CatalogEntry[];
}
