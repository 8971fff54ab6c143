import type { RunIntent } from '../run.ts';
import type { PermissionMode } from '../session.ts';

/** Intents that a sub-agent can have: work that comes to an end. */
export const SUBAGENT_INTENTS = ['review', 'plan', 'delegate'] as const satisfies RunIntent[];

/** A kind of helper that can be run beside a session: what it is told before the work itself. */
export interface Subagent {
  id: string;
  name: string;
  description: string;
  intent: (typeof SUBAGENT_INTENTS)[number];
  /** What it may do unasked; absent: as for any run of its intent. */
  permissionMode?: PermissionMode;
  /** Markdown. */
  prompt: string;
  /** `built_in`: comes with Kaiwu. `account`: somebody wrote it. */
  source: 'built_in' | 'account';
}

/** Definitions of sub-agents. Source: texts of the build, and the account's settings. */
export interface SubagentsPort {
  /** By id. */
  list(): Promise<Subagent[]>;
  /** @throws not_found naming the nearest */
  get(id: string): Promise<Subagent>;
  /** Adds or replaces one of the account's. @throws conflict (the id of a built-in one, or too many) */
  set(subagent: Omit<Subagent, 'source'>): Promise<Subagent>;
  /** @throws not_found | conflict (built in) */
  remove(id: string): Promise<void>;
}

/** A prompt that a host offers to its user. */
export interface HostPrompt {
  name: string;
  title: string;
  description: string;
  arguments: { name: string; description: string }[];
  /** Markdown with `{{name}}` where an argument goes. */
  text: string;
}

/** Texts of the build for models and hosts. */
export interface TextsPort {
  /** A text about Kaiwu itself: `identity`, `soul`, `user`. Undefined where there is none of that name. */
  about(name: string): string | undefined;
  aboutNames(): string[];
  /** By name. */
  prompts(): HostPrompt[];
}
