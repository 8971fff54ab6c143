import type { Caller } from '../call.ts';
import type { Page, PageRequest } from '../page.ts';

export const MEMORY_KINDS = ['document', 'conversation', 'learning'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const LEARNING_KINDS = ['preference', 'fact', 'procedure', 'correction', 'other'] as const;
export type LearningKind = (typeof LEARNING_KINDS)[number];

/** What an item is about; each is a filter as well. Names are those of the tools' fields. */
export interface MemoryScope {
  workspace?: string;
  folder?: string;
  file_path?: string;
  language?: string;
  repo?: string;
  commit?: string;
  url?: string;
  thread_id?: string;
  agent_id?: string;
}

/** A passage that is remembered. */
export interface MemoryItem extends MemoryScope {
  id: string;
  kind: MemoryKind;
  /** Of a learning. */
  learning_kind?: LearningKind;
  text: string;
  /** 0 to 1, as who learned it said. */
  confidence?: number;
  /** Labels of the clients that it came from: `mcp:claude-code`. Never an authority. */
  sources: string[];
  tags: string[];
  /** RFC 3339; when what it tells was so. */
  observed_at: string;
  created_at: string;
}

export interface MemoryHit extends MemoryItem {
  /** Higher is better; comparable only within one answer. */
  score: number;
}

export interface MemoryFilter extends MemoryScope {
  kinds?: MemoryKind[];
  sources?: string[];
  tags_any?: string[];
  /** RFC 3339, inclusive. */
  observed_after?: string;
  observed_before?: string;
}

export const SEARCH_MODES = ['lexical', 'hybrid'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** An endpoint that speaks the API of OpenAI. */
export interface ModelEndpoint {
  base_url: string;
  model: string;
  /** Sealed at rest and never answered. */
  api_key?: string;
}

export interface MemorySettings {
  enabled: boolean;
  /** Finished turns of sessions are remembered. */
  remember_turns: boolean;
  /** Writes the answers of `recall`. */
  recall_model?: ModelEndpoint;
  /** Makes vectors for `hybrid`. */
  embeddings?: ModelEndpoint;
}

/** The same without what is secret. */
export interface ShownMemorySettings extends Omit<MemorySettings, 'recall_model' | 'embeddings'> {
  recall_model?: ShownEndpoint;
  embeddings?: ShownEndpoint;
  items: number;
}

export type ShownEndpoint = Omit<ModelEndpoint, 'api_key'> & { has_key: boolean };

export interface Recalled {
  answer: string;
  /** `model`: written by the configured one from the passages. `extract`: the passages' own words. */
  by: 'model' | 'extract';
  citations: { id: string; text: string; kind: MemoryKind; observed_at: string; score: number }[];
  /** Why the model did not write it, where one is configured. */
  note?: string;
}

/** What the account remembers. Every method but `settings` and `configure`: @throws memory_off */
export interface MemoryPort {
  /** @throws unsupported (`hybrid` without an endpoint) | invalid_input (cursor) */
  search(
    query: { text: string; mode: SearchMode; filter: MemoryFilter },
    page: PageRequest,
    signal: AbortSignal,
  ): Promise<Page<MemoryHit>>;
  /** Newest first. */
  list(filter: MemoryFilter, page: PageRequest): Promise<Page<MemoryItem>>;
  recall(question: string, filter: MemoryFilter, limit: number, signal: AbortSignal): Promise<Recalled>;
  /** Adds one. */
  learn(
    learning: {
      text: string;
      kind: LearningKind;
      confidence?: number;
      tags: string[];
      scope: MemoryScope;
    },
    caller: Caller,
  ): Promise<MemoryItem>;
  /** Deletes for good. Ids that are not there are told. */
  forget(ids: string[]): Promise<{ forgotten: string[]; missing: string[] }>;
  /**
   * Cuts a text, or a file of a session's workspace, into passages. What was ingested of the same file before goes.
   * @throws what sending such a file would be refused with
   */
  ingest(
    document: { sessionId?: string; path?: string; text?: string; tags: string[]; scope: MemoryScope },
    caller: Caller,
  ): Promise<{ ids: string[]; replaced: number }>;
  settings(): Promise<ShownMemorySettings>;
  /** What is absent stays; `null` removes an endpoint. */
  configure(change: {
    enabled?: boolean;
    remember_turns?: boolean;
    recall_model?: ModelEndpoint | null;
    embeddings?: ModelEndpoint | null;
  }): Promise<ShownMemorySettings>;
}
