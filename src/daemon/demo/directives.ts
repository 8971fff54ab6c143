import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  McpServer,
  PermissionOption,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';

/** What a turn of the demo agent works with. */
export interface Directives {
  directory: string;
  mcpServers: McpServer[];
  signal: AbortSignal;
  newId(): string;
  exit(code: number): void;
  update(update: SessionUpdate): Promise<void>;
  ask(toolCall: ToolCallUpdate, options: PermissionOption[]): Promise<RequestPermissionResponse>;
}

const CHUNK_CHARS = 24;
const KINDS: readonly ToolKind[] = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'];
const OPTIONS: PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Refuse', kind: 'reject_once' },
];

/** Does what the first word of a message says; anything else is echoed. */
export async function runDirective(message: string, turn: Directives): Promise<void> {
  const [, word = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(message) ?? [];
  switch (word) {
    case 'say':
      return say(rest, turn);
    case 'ls':
      return list(turn);
    case 'ask':
      return ask(rest, turn);
    case 'sleep':
      return nap(Number(rest), turn);
    case 'crash':
      return turn.exit(7);
    case 'tool':
      return callTool(rest, turn);
    default:
      return say(message, turn);
  }
}

/** In chunks, as a model would. Never through the middle of a character. */
async function say(text: string, turn: Directives): Promise<void> {
  const characters = [...text];
  for (let start = 0; start < characters.length && !turn.signal.aborted; start += CHUNK_CHARS) {
    const chunk = characters.slice(start, start + CHUNK_CHARS).join('');
    await turn.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: chunk } });
  }
}

/** Shows a piece of work as a tool call from its start to its end. */
async function asToolCall<T>(
  turn: Directives,
  call: { title: string; kind: ToolKind; rawInput?: unknown },
  work: (toolCallId: string) => Promise<T>,
): Promise<T> {
  const toolCallId = turn.newId();
  await turn.update({ sessionUpdate: 'tool_call', toolCallId, status: 'in_progress', ...call });
  const finish = (status: 'completed' | 'failed') =>
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status });
  try {
    const result = await work(toolCallId);
    await finish('completed');
    return result;
  } catch (error) {
    await finish('failed');
    throw error;
  }
}

async function list(turn: Directives): Promise<void> {
  const call = { title: 'List the workspace', kind: 'read' as const, rawInput: { path: turn.directory } };
  const names = await asToolCall(turn, call, async () => {
    const entries = await readdir(turn.directory, { withFileTypes: true });
    return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  });
  await say(names.length === 0 ? 'The workspace is empty.' : names.join('\n'), turn);
}

/** `ask edit README` asks for an edit; without a kind it asks to execute. */
async function ask(what: string, turn: Directives): Promise<void> {
  const kind = KINDS.find((known) => what.startsWith(`${known} `)) ?? 'execute';
  const title = what === '' ? 'Something' : what;
  const outcome = await asToolCall(turn, { title, kind }, async (toolCallId) => {
    const answer = await turn.ask({ toolCallId, title, kind }, OPTIONS);
    return answer.outcome;
  });
  const granted = outcome.outcome === 'selected' && outcome.optionId !== 'no';
  await say(granted ? 'granted' : 'refused', turn);
}

async function nap(seconds: number, turn: Directives): Promise<void> {
  if (!Number.isFinite(seconds) || seconds < 0) return say('sleep takes a number of seconds', turn);
  await asToolCall(turn, { title: `Sleep ${seconds} s`, kind: 'other' }, async () => {
    for (let left = seconds; left > 0; left -= 1) {
      await sleep(Math.min(left, 1) * 1000, undefined, { signal: turn.signal });
      await say('.', turn);
    }
  });
  await say('awake', turn);
}

async function callTool(rest: string, turn: Directives): Promise<void> {
  const [, name = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  const reply = await asToolCall(turn, { title: `Call ${name}`, kind: 'other', rawInput: json }, async () => {
    // Only this directive needs an MCP client, which is slow to load.
    const { callMcpTool } = await import('./mcp-tool.ts');
    return callMcpTool(turn.mcpServers, name, json, turn.signal);
  });
  await say(reply, turn);
}
