export const SEARCH_KINDS = ['searxng', 'brave', 'tavily'] as const;
export const ANSWER_KINDS = ['openai', 'gemini'] as const;
export const PROVIDER_KINDS = [...SEARCH_KINDS, ...ANSWER_KINDS] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export const ANSWER_DEPTHS = ['quick', 'deep'] as const;
export type AnswerDepth = (typeof ANSWER_DEPTHS)[number];

/** A service that searches the web, or answers from it. Names are those of the tools' fields. */
export interface WebProvider {
  /** Unique; lower-case letters, digits and hyphens. */
  id: string;
  kind: ProviderKind;
  /** Base of its API; absent: that of the service itself. It may be an address in a private network: a person gave it. */
  base_url?: string;
  /** Of `openai` and `gemini`. */
  model?: string;
  /** Of `searxng`: results at most, 1 to 20. */
  max_results?: number;
  /** Of `searxng`: such as `en` or `zh-CN`. */
  default_language?: string;
  /** Seconds for one question, 1 to 300. */
  timeout_seconds?: number;
}

/** One as people see it: without its key. */
export interface ShownWebProvider extends WebProvider {
  has_key: boolean;
  /** `environment`: set by variables, and not changed otherwise. */
  source: 'settings' | 'environment';
}

/** Text and link of a stranger: bounded, one line, no markup; the link is http or https and was not followed. */
export interface WebResult {
  title: string;
  url: string;
  snippet: string;
}

/** One that was asked before and could not serve. */
export interface WebFailure {
  provider: string;
  message: string;
}

export interface WebResults {
  provider: string;
  /** What it says is said by strangers. */
  untrusted: true;
  results: WebResult[];
  failed: WebFailure[];
}

export interface WebAnswer {
  provider: string;
  untrusted: true;
  answer: string;
  citations: { title: string; url: string }[];
  failed: WebFailure[];
}

export interface WebTest {
  ok: boolean;
  milliseconds: number;
  /** Why not. */
  message?: string;
}

/** The web, through providers that the account has set up, asked in their order. */
export interface WebPort {
  /**
   * @param pinned one provider, with no other in its place; `kind` keeps to providers of one kind; `seconds` for all of them together, shared out
   * @throws provider_failed naming what each said | invalid_input (no such provider)
   */
  search(
    question: { query: string; max_results?: number; pinned?: string; kind?: ProviderKind; seconds: number },
    signal: AbortSignal,
  ): Promise<WebResults>;
  /** @throws as `search` */
  answer(
    question: { question: string; depth: AnswerDepth; pinned?: string; seconds: number },
    signal: AbortSignal,
  ): Promise<WebAnswer>;
  /** In the order in which they are asked. */
  providers(): Promise<ShownWebProvider[]>;
  /**
   * Adds one, or replaces it in its place. Without `api_key` it keeps its own, as long as kind and address stay: a key goes nowhere else.
   * @throws invalid_input | conflict (it is from the environment)
   */
  set(provider: WebProvider, key: string | undefined): Promise<ShownWebProvider>;
  /** @throws invalid_input (no such provider) | conflict */
  remove(id: string): Promise<void>;
  /** Asks it one small question. @throws invalid_input (no such provider) */
  test(id: string, signal: AbortSignal): Promise<WebTest>;
}
