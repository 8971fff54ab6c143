import type { AgentOption, PermissionMode } from './session.ts';

export const AGENT_FEATURES = [
  'load',
  'resume',
  'fork',
  'close',
  'steer',
  'additional_directories',
  'images',
  'http_mcp',
] as const;
export type AgentFeature = (typeof AGENT_FEATURES)[number];

/**
 * Whether a session may ask an agent for a mode. One that was added and has not started here yet may have modes that nobody
 * knows of: it is tried.
 */
export const mayHaveMode = (agent: AgentInfo, mode: PermissionMode): boolean =>
  // Every agent starts in its default, also one that names no modes.
  mode === 'default' ||
  agent.permissionModes.includes(mode) ||
  (agent.source === 'added' && agent.features === undefined);

/** An agent on a machine, as its daemon found it. */
export interface AgentInfo {
  agentId: string;
  name: string;
  /** Its program was found. */
  available: boolean;
  /** `needs_setup`: found, but nobody is signed in or a setting is missing; `reason` and `setup` say what to do. */
  state: 'ready' | 'needs_setup' | 'not_installed';
  /** Command that makes it ready. */
  setup?: string;
  /** `built_in`, or `added` by the person. */
  source: 'built_in' | 'added';
  /** What it said that it can do, when it last started here. */
  features?: AgentFeature[];
  /** Why it is not available or not ready, or how its last start failed. One sentence. */
  reason?: string;
  /** Command that installs it. */
  install?: string;
  version?: string;
  /** Those that it offered when it last started here; until then those known beforehand. */
  permissionModes: PermissionMode[];
  /** Known without a session; sessions report their own. */
  models: AgentOption[];
}
