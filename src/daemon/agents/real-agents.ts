import type { AgentDefinition } from './agents.ts';

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

/** What sessions of OpenCode and Kilo may do in each of our modes; they have no such modes of their own. */
const toModes = (first: string): string =>
  JSON.stringify({
    agent: {
      [first]: { permission: { edit: 'ask', bash: 'ask' } },
      'accept-edits': { mode: 'primary', permission: { edit: 'allow', bash: 'ask' } },
      bypass: { mode: 'primary', permission: { edit: 'allow', bash: 'allow' } },
      readonly: { mode: 'primary', permission: { edit: 'deny', bash: 'deny' } },
    },
  });

export const REAL_AGENTS: AgentDefinition[] = [
  {
    agentId: 'claude',
    name: 'Claude Code',
    command: 'claude-agent-acp',
    args: [],
    install: 'npm install --global @agentclientprotocol/claude-agent-acp@0.49.0',
    signIn:
      'Run `claude-agent-acp --cli auth login --claudeai` on this machine, or set ANTHROPIC_API_KEY for the daemon.',
    setup: 'claude-agent-acp --cli auth login --claudeai',
    evidence: {
      variables: [
        'ANTHROPIC_API_KEY',
        'ANTHROPIC_AUTH_TOKEN',
        'CLAUDE_CODE_OAUTH_TOKEN',
        'CLAUDE_CODE_USE_BEDROCK',
        'CLAUDE_CODE_USE_VERTEX',
        'CLAUDE_CODE_USE_FOUNDRY',
      ],
      files: [
        { folder: 'CLAUDE_CONFIG_DIR', otherwise: '.claude', path: '.credentials.json' },
        {
          folder: 'CLAUDE_CONFIG_DIR',
          otherwise: '.claude',
          path: 'settings.json',
          holds: /"(apiKeyHelper|ANTHROPIC_API_KEY|ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_\w+)"\s*:/,
        },
        // Where the system's keyring has the rest.
        {
          folder: 'CLAUDE_CONFIG_DIR',
          otherwise: '',
          path: '.claude.json',
          holds: /"(oauthAccount|primaryApiKey)"\s*:/,
        },
      ],
      missingAt: 'prompt',
    },
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
      // Its plan mode runs commands unasked. In this one it asks before each change, and is refused.
      read_only: ['default'],
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
    setup: 'codex login',
    keySignIn: { methodId: 'api-key', variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'] },
    evidence: {
      variables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
      files: [
        { folder: 'CODEX_HOME', otherwise: '.codex', path: 'auth.json' },
        { folder: 'CODEX_HOME', otherwise: '.codex', path: 'config.toml', holds: /^\s*model_provider\s*=/m },
      ],
    },
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
    setup: 'gemini',
    evidence: {
      variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
      files: [
        { folder: 'GEMINI_CLI_HOME', otherwise: '', path: '.gemini/oauth_creds.json' },
        {
          folder: 'GEMINI_CLI_HOME',
          otherwise: '',
          path: '.gemini/.env',
          holds: /^\s*(GEMINI|GOOGLE)_API_KEY\s*=/m,
        },
      ],
    },
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
    setup: 'opencode auth login',
    // Its hosted models need no sign-in.
    evidence: {
      variables: [],
      files: [{ folder: 'XDG_DATA_HOME', otherwise: '.local/share', path: 'opencode/auth.json' }],
      optional: true,
    },
    inherit: ['OPENCODE_*', ...PROVIDERS],
    env: { OPENCODE_CONFIG_CONTENT: toModes('build'), OPENCODE_DISABLE_AUTOUPDATE: '1' },
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
    setup: 'kilo auth login',
    // Its hosted models need no sign-in.
    evidence: {
      variables: [],
      files: [{ folder: 'XDG_DATA_HOME', otherwise: '.local/share', path: 'kilo/auth.json' }],
      optional: true,
    },
    inherit: ['KILO_*', ...PROVIDERS],
    env: { KILO_CONFIG_CONTENT: toModes('code'), KILO_DISABLE_AUTOUPDATE: '1' },
    modes: {
      default: ['code'],
      plan: ['plan'],
      read_only: ['readonly', 'ask', 'plan'],
      accept_edits: ['accept-edits'],
      bypass: ['bypass'],
    },
    models: [],
  },
];
