import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Recipe } from './recipe.ts';

const KEY = 'not-a-real-key';

async function put(path: string, content: string | object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

/** OpenCode and Kilo are of one family: the same settings, the same tools. */
const openCodeFamily = (folder: string, file: string, prefix: string) => ({
  async configure({ home, modelUrl }: { home: string; modelUrl: string }) {
    await put(join(home, '.config', folder, file), {
      model: 'fake/fake-1',
      small_model: 'fake/fake-1',
      share: 'disabled',
      enabled_providers: ['fake'],
      provider: {
        fake: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Fake',
          options: { baseURL: `${modelUrl}/v1`, apiKey: KEY },
          models: { 'fake-1': { name: 'Fake 1' }, 'fake-2': { name: 'Fake 2' } },
        },
      },
    });
    return {
      [`${prefix}_DISABLE_MODELS_FETCH`]: '1',
      [`${prefix}_DISABLE_LSP_DOWNLOAD`]: '1',
      [`${prefix}_DISABLE_DEFAULT_PLUGINS`]: '1',
      [`${prefix}_PURE`]: '1',
    };
  },
  call: {
    shell: (command: string) => ({ tool: 'bash', args: { command, description: 'Run it' } }),
    write: (filePath: string, content: string) => ({ tool: 'write', args: { filePath, content } }),
    kaiwu: (name: string, args: object) => ({ tool: `kaiwu_${name}`, args }),
  },
  secondModel: 'fake/fake-2',
});

const codexSettings = (modelUrl: string): string => `
model = "fake-1"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`;

const patchOf = (path: string, content: string): string =>
  [
    "apply_patch <<'EOF'",
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...content.split('\n').map((line) => `+${line}`),
    '*** End Patch',
    'EOF',
  ].join('\n');

/** Choices as both Claude and Codex write them. */
const COLOURS = ['Red', 'Blue'].map((label) => ({ label, description: `The colour ${label}` }));
const ASKED = { question: 'Which colour?', header: 'Colour', options: COLOURS };
const collaboration = (value: string) => ({ configId: 'collaboration_mode', value });

/** Cheapest first. */
export const RECIPES: Recipe[] = [
  {
    agentId: 'codex',
    package: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    binary: 'codex-acp',
    args: [],
    async configure({ home, modelUrl }) {
      await put(join(home, '.codex/config.toml'), codexSettings(modelUrl));
      return { OPENAI_API_KEY: KEY };
    },
    call: {
      // Inside its sandbox it asks nobody; outside it does, unless everything is allowed.
      shell: (cmd, unasked = false) => ({
        tool: 'exec_command',
        args: unasked ? { cmd } : { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' },
      }),
      write: (path, content) => ({ tool: 'exec_command', args: { cmd: patchOf(path, content) } }),
      kaiwu: (name, args) => ({ tool: `mcp__kaiwu::${name}`, args }),
    },
    question: {
      call: { tool: 'request_user_input', args: { questions: [{ id: 'colour', ...ASKED }] } },
      setting: { on: collaboration('plan'), off: collaboration('default') },
    },
    freeMode: 'accept_edits',
    lacks: {},
  },
  {
    agentId: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    binary: 'opencode',
    args: ['acp'],
    installScripts: true,
    ...openCodeFamily('opencode', 'opencode.json', 'OPENCODE'),
    freeMode: 'accept_edits',
    lacks: {},
  },
  {
    agentId: 'claude',
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.49.0',
    binary: 'claude-agent-acp',
    args: [],
    async configure({ home, modelUrl }) {
      await put(join(home, '.claude/settings.json'), { permissions: { defaultMode: 'default' } });
      return {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
      };
    },
    call: {
      shell: (command) => ({ tool: 'Bash', args: { command, description: 'Run it' } }),
      write: (file_path, content) => ({ tool: 'Write', args: { file_path, content } }),
      kaiwu: (name, args) => ({ tool: `mcp__kaiwu__${name}`, args }),
    },
    secondModel: 'sonnet',
    question: {
      call: { tool: 'AskUserQuestion', args: { questions: [{ ...ASKED, multiSelect: false }] } },
    },
    freeMode: 'accept_edits',
    lacks: {},
  },
  {
    agentId: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    binary: 'gemini',
    args: ['--acp'],
    async configure({ home, modelUrl }) {
      await put(join(home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        // Left to itself it asks a second model which model to use.
        model: { name: 'gemini-2.5-pro' },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      });
      return {
        GEMINI_API_KEY: KEY,
        GOOGLE_GEMINI_BASE_URL: modelUrl,
        GEMINI_CLI_NO_RELAUNCH: 'true',
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      };
    },
    call: {
      shell: (command) => ({ tool: 'run_shell_command', args: { command, description: 'Run it' } }),
      write: (file_path, content) => ({ tool: 'write_file', args: { file_path, content } }),
      kaiwu: (name, args) => ({ tool: `mcp_kaiwu_${name}`, args }),
    },
    secondModel: 'gemini-3.8-flash',
    freeMode: 'accept_edits',
    // It loses a conversation that is loaded in the minute in which it was made.
    restsBeforeLoad: 61_000,
    lacks: {},
  },
  {
    agentId: 'kilo',
    package: '@kilocode/cli',
    version: '7.7.7',
    binary: 'kilo',
    args: ['acp'],
    ...openCodeFamily('kilo', 'kilo.json', 'KILO'),
    freeMode: 'accept_edits',
    lacks: {},
  },
];
