import type { AgentOption, PermissionMode } from '../../core/session.ts';

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
  /** What to do when it says that nobody is signed in. */
  signIn?: string;
  /** Environment that it needs beside the common part; a trailing `*` stands for any ending. */
  inherit: string[];
  /** Environment that it gets unless the person set it. */
  env: Record<string, string>;
  /** Its modes for ours, best first: the first one that it offers is taken. A mode that is absent is refused. */
  modes: Partial<Record<PermissionMode, string[]>>;
  /** Models known without a session. */
  models: AgentOption[];
  /** How it takes a message into a turn that runs, where it can: by a second prompt, marked `_meta.steer`. */
  steer?: 'prompt';
  /** Absent: it comes with Kaiwu. */
  source?: 'added';
  /** Environment that the person gave it. Wins over everything else; the values are never shown. */
  secretEnv?: Record<string, string>;
}

/** Keys and settings of the model providers that several agents can use. */
const PROVIDERS = [
  'ANTHROPIC_*',
  'OPENAI_*',
  'GEMINI_*',
  'GOOGLE_*',
  'AZURE_*',
  'AWS_*',
  'OPENROUTER_*',
  'MISTRAL_*',
  'DEEPSEEK_*',
  'GROQ_*',
  'XAI_*',
];

/** What opencode's sessions may do in each of our modes; it has no such modes of its own. */
const OPENCODE_MODES = {
  agent: {
    build: { permission: { edit: 'ask', bash: 'ask' } },
    'accept-edits': { mode: 'primary', permission: { edit: 'allow', bash: 'ask' } },
    bypass: { mode: 'primary', permission: { edit: 'allow', bash: 'allow' } },
    readonly: { mode: 'primary', permission: { edit: 'deny', bash: 'deny' } },
  },
};

const REAL_AGENTS: AgentDefinition[] = [
  {
    agentId: 'claude',
    name: 'Claude Code',
    command: 'claude-agent-acp',
    args: [],
    install: 'npm install --global @agentclientprotocol/claude-agent-acp@0.49.0',
    signIn: 'Run `claude` once on this machine and sign in, or set ANTHROPIC_API_KEY for the daemon.',
    inherit: [
      'ANTHROPIC_*',
      'AWS_*',
      'GOOGLE_*',
      'CLAUDE_CONFIG_DIR',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_*',
      'CLAUDE_CODE_DISABLE_*',
      'DISABLE_*',
    ],
    env: {},
    modes: {
      default: ['default'],
      plan: ['plan'],
      read_only: ['plan'],
      accept_edits: ['acceptEdits'],
      bypass: ['bypassPermissions'],
    },
    models: [],
  },
  {
    agentId: 'codex',
    name: 'Codex',
    command: 'codex-acp',
    args: [],
    install: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
    signIn: 'Run `codex login` on this machine, or set OPENAI_API_KEY for the daemon.',
    inherit: ['OPENAI_*', 'CODEX_*', 'AZURE_*'],
    // Without it, escalations go to a second model in place of the person.
    env: { INITIAL_AGENT_MODE: 'workspace-write', NO_BROWSER: '1' },
    modes: {
      default: ['workspace-write'],
      read_only: ['read-only'],
      accept_edits: ['workspace-write'],
      bypass: ['agent-full-access'],
    },
    models: [],
  },
  {
    agentId: 'gemini',
    name: 'Gemini CLI',
    command: 'gemini',
    args: ['--acp'],
    install: 'npm install --global @google/gemini-cli@0.61.0',
    signIn: 'Run `gemini` once on this machine and sign in, or set GEMINI_API_KEY for the daemon.',
    inherit: ['GEMINI_*', 'GOOGLE_*'],
    env: {},
    modes: {
      default: ['default'],
      plan: ['plan'],
      read_only: ['plan'],
      accept_edits: ['autoEdit'],
      bypass: ['yolo'],
    },
    models: [],
  },
  {
    agentId: 'opencode',
    name: 'OpenCode',
    command: 'opencode',
    args: ['acp'],
    install: 'npm install --global opencode-ai@1.18.33',
    signIn: 'Run `opencode auth login` on this machine.',
    inherit: ['OPENCODE_*', ...PROVIDERS],
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE_MODES), OPENCODE_DISABLE_AUTOUPDATE: '1' },
    modes: {
      default: ['build'],
      plan: ['plan'],
      read_only: ['readonly', 'plan'],
      accept_edits: ['accept-edits'],
      bypass: ['bypass'],
    },
    models: [],
  },
  {
    agentId: 'kilo',
    name: 'Kilo Code',
    command: 'kilo',
    args: ['acp'],
    install: 'npm install --global @kilocode/cli@7.7.7',
    signIn: 'Run `kilo auth login` on this machine.',
    inherit: ['KILO_*', ...PROVIDERS],
    env: { KILO_DISABLE_AUTOUPDATE: '1' },
    modes: { default: ['code'], plan: ['plan'], read_only: ['ask', 'plan'] },
    models: [],
  },
];

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
    steer: 'prompt',
    models: [
      { id: 'demo-1', name: 'Demo 1' },
      { id: 'demo-2', name: 'Demo 2' },
    ],
  },
  ...REAL_AGENTS,
];
