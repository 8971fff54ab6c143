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
  /** Why it is not available, one sentence. */
  reason?: string;
  /** Command that installs it. */
  install?: string;
  version?: string;
  permissionModes: PermissionMode[];
  /** Known without a session; sessions report their own. */
  models: AgentOption[];
}
