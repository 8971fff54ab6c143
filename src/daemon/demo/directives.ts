import { readdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ContentBlock,
  CreateElicitationResponse,
  ElicitationSchema,
  McpServer,
  PermissionOption,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import { PICTURE } from './picture.ts';

/** What a turn of the demo agent works with. */
export interface Directives {
  /** The workspace, then the additional ones. */
  directories: string[];
  mcpServers: McpServer[];
  /** Messages of the conversation before this one. */
  past: string[];
  /** Messages that came while the turn ran. */
  heard: string[];
  signal: AbortSignal;
  newId(): string;
  exit(code: number): void;
  update(update: SessionUpdate): Promise<void>;
  permission(toolCall: ToolCallUpdate, options: PermissionOption[]): Promise<RequestPermissionResponse>;
  /** Absent where the client takes no questions. */
  question?(form: {
    message: string;
    requestedSchema: ElicitationSchema;
  }): Promise<CreateElicitationResponse>;
}

type Word = (rest: string, turn: Directives) => Promise<void> | void;

const CHUNK_CHARS = 24;
const KINDS: readonly ToolKind[] = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'];
const OPTIONS: PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Refuse', kind: 'reject_once' },
];
const QUESTION: ElicitationSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/** What the first word of a message does. */
const WORDS: Record<string, Word> = {
  say,
  ls: list,
  ask,
  edit,
  sleep: nap,
  think,
  plan,
  question,
  image,
  recall: (_rest, turn) => say(turn.past.length === 0 ? 'Nothing yet.' : turn.past.join('\n'), turn),
  crash: (_rest, turn) => turn.exit(7),
  tool: callTool,
};

/**
 * Does what the first word of a message says; anything else is echoed. Where a line begins with `@` and such a word, as in
 * `@say TEXT`, it does that with the rest of the message, whatever stands before.
 */
export async function runDirective(message: string, turn: Directives): Promise<void> {
  const { word, rest } = addressed(message) ?? firstWord(message);
  if (Object.hasOwn(WORDS, word)) await WORDS[word]?.(rest, turn);
  else await say(message, turn);
  if (turn.heard.length > 0) await say(`, and heard ${turn.heard.join(', ')}`, turn);
}

function firstWord(message: string): { word: string; rest: string } {
  const [, word = '', rest = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(message) ?? [];
  return { word, rest };
}

function addressed(message: string): { word: string; rest: string } | undefined {
  for (const line of message.matchAll(/^@([a-z]+)(?=\s|$)/gm)) {
    const word = line[1] as string;
    if (Object.hasOwn(WORDS, word)) return { word, rest: message.slice(line.index + line[0].length).trim() };
  }
  return undefined;
}

/** In chunks, as a model would. Never through the middle of a character. */
async function stream(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  turn: Directives,
): Promise<void> {
  const characters = [...text];
  for (let start = 0; start < characters.length && !turn.signal.aborted; start += CHUNK_CHARS) {
    const chunk = characters.slice(start, start + CHUNK_CHARS).join('');
    await turn.update({ sessionUpdate, content: { type: 'text', text: chunk } });
  }
}

function say(text: string, turn: Directives): Promise<void> {
  return stream('agent_message_chunk', text, turn);
}

async function think(text: string, turn: Directives): Promise<void> {
  await stream('agent_thought_chunk', text, turn);
  await say('thought', turn);
}

/** `plan A; B; C` makes three steps, one after the other done. */
async function plan(rest: string, turn: Directives): Promise<void> {
  const steps = rest
    .split(';')
    .map((step) => step.trim())
    .filter((step) => step !== '');
  for (let done = 0; done <= steps.length; done += 1) {
    const entries = steps.map((content, i) => {
      const status =
        i < done ? ('completed' as const) : i === done ? ('in_progress' as const) : ('pending' as const);
      return { content, priority: 'medium' as const, status };
    });
    await turn.update({ sessionUpdate: 'plan', entries });
  }
  await say(`did ${steps.length} steps`, turn);
}

async function image(_rest: string, turn: Directives): Promise<void> {
  const content: ContentBlock = { type: 'image', data: PICTURE, mimeType: 'image/png' };
  await turn.update({ sessionUpdate: 'agent_message_chunk', content });
  await say('an image', turn);
}

async function question(message: string, turn: Directives): Promise<void> {
  if (turn.question === undefined) return say('nobody takes questions', turn);
  const answer = await turn.question({ message: message || 'What now?', requestedSchema: QUESTION });
  const content = 'content' in answer ? (answer.content as Record<string, unknown> | null) : undefined;
  const replies: Record<string, string> = {
    accept: typeof content?.answer === 'string' ? content.answer : '',
    decline: 'declined',
    cancel: 'canceled',
  };
  await say(replies[answer.action] ?? answer.action, turn);
}

/** Shows a piece of work as a tool call from its start to its end. */
async function asToolCall<T>(
  turn: Directives,
  call: Omit<ToolCallUpdate, 'toolCallId'> & { title: string; kind: ToolKind },
  work: (toolCallId: string) => Promise<T>,
): Promise<T> {
  const toolCallId = turn.newId();
  const { content, locations, rawInput, title, kind } = call;
  await turn.update({
    sessionUpdate: 'tool_call',
    toolCallId,
    status: 'in_progress',
    title,
    kind,
    rawInput,
    content: content ?? undefined,
    locations: locations ?? undefined,
  });
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

async function list(_rest: string, turn: Directives): Promise<void> {
  const [path = '', ...others] = turn.directories;
  const call = { title: 'List the workspace', kind: 'read' as const, rawInput: { path } };
  const lines = await asToolCall(turn, call, async () => {
    const further = await Promise.all(others.map(async (other) => [`${other}:`, ...(await namesIn(other))]));
    return [...(await namesIn(path)), ...further.flat()];
  });
  await say(lines.length === 0 ? 'The workspace is empty.' : lines.join('\n'), turn);
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

async function isGranted(turn: Directives, toolCall: ToolCallUpdate): Promise<boolean> {
  const { outcome } = await turn.permission(toolCall, OPTIONS);
  return outcome.outcome === 'selected' && outcome.optionId !== 'no';
}

/** `ask edit README` asks for an edit; without a kind it asks to execute. */
async function ask(what: string, turn: Directives): Promise<void> {
  const kind = KINDS.find((known) => what.startsWith(`${known} `)) ?? 'execute';
  const call = { title: what === '' ? 'Something' : what, kind };
  const granted = await asToolCall(turn, call, (toolCallId) => isGranted(turn, { toolCallId, ...call }));
  await say(granted ? 'granted' : 'refused', turn);
}

/** `edit PATH TEXT` shows what would change, asks, and writes. */
async function edit(rest: string, turn: Directives): Promise<void> {
  const [, name = '', newText = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (name === '') return say('edit takes a path and a text', turn);
  const path = resolve(turn.directories[0] ?? '', name);
  const oldText = await readFile(path, 'utf8').catch(() => null);
  const call = {
    title: `Edit ${name}`,
    kind: 'edit' as const,
    content: [{ type: 'diff' as const, path, oldText, newText }],
    locations: [{ path }],
  };
  const granted = await asToolCall(turn, call, async (toolCallId) => {
    if (!(await isGranted(turn, { toolCallId, ...call }))) return false;
    await writeFile(path, newText);
    return true;
  });
  await say(granted ? 'edited' : 'refused', turn);
}

async function nap(rest: string, turn: Directives): Promise<void> {
  const seconds = Number(rest);
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
  const [only, ...others] = turn.mcpServers;
  // Named with its server, as other agents do, where it can only be that one.
  const title = only?.name === 'kaiwu' && others.length === 0 ? `kaiwu.${name}` : `Call ${name}`;
  const reply = await asToolCall(turn, { title, kind: 'other', rawInput: json }, async () => {
    // Only this word needs an MCP client, which is slow to load.
    const { callMcpTool } = await import('./mcp-tool.ts');
    return callMcpTool(turn.mcpServers, name, json, turn.signal);
  });
  await say(reply, turn);
}
