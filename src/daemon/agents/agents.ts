import type { AgentOption, PermissionMode } from '../../core/session.ts';
import { REAL_AGENTS } from './real-agents.ts';
import type { SignInEvidence } from './sign-in.ts';

/** How to start one agent, and how it says what we say. Plain data. */
export interface AgentDefinition {
  agentId: string;
  name: string;
  /** Looked for on PATH, unless it is a path itself. */
  command: string;
  args: string[];
  /** Known beforehand; else it is asked with `--version`. */
  version?: string;
  /** Command that installs a version that works. */
  install?: string;
  /** What to do when nobody is signed in. */
  signIn?: string;
  /** Command that signs somebody in. */
  setup?: string;
  /** Its way of signing in with a key of its environment, tried when it says that nobody is signed in. */
  keySignIn?: { methodId: string; variables: string[] };
  /** What shows that somebody is signed in; absent where nobody needs to be. */
  evidence?: SignInEvidence;
  /** Environment that it needs beside the common part; a trailing `*` stands for any ending. */
  inherit: string[];
  /** Environment that it gets unless the person set it. */
  env: Record<string, string>;
  /** Its modes for ours, best first: the first one that it offers is taken. A mode that is absent is refused. */
  modes: Partial<Record<PermissionMode, string[]>>;
  /** Models known without a session. */
  models: AgentOption[];
  /** Modes that it may have, by the names that agents commonly use: known once a session has shown them. */
  guessedModes?: PermissionMode[];
  /** Absent: it comes with Kaiwu. */
  source?: 'added';
  /** Environment that the person gave it. Wins over everything else; the values are never shown. */
  secretEnv?: Record<string, string>;
}

/** Every agent that Kaiwu can start. The demo agent is part of it and needs nothing else. */
export const toAgentTable = (demo: {
  execPath: string;
  path: string;
  version: string;
  /** Where it keeps its conversations. */
  folder?: string;
}): AgentDefinition[] => [
  {
    agentId: 'demo',
    name: 'Demo agent',
    command: demo.execPath,
    args: [demo.path, ...(demo.folder === undefined ? [] : [demo.folder])],
    version: demo.version,
    inherit: [],
    env: {},
    modes: {
      default: ['ask-first'],
      plan: ['plan-first'],
      read_only: ['look-only'],
      accept_edits: ['edit-freely'],
      bypass: ['never-ask'],
    },
    models: [
      { id: 'demo-1', name: 'Demo 1' },
      { id: 'demo-2', name: 'Demo 2' },
    ],
  },
  ...REAL_AGENTS,
];
