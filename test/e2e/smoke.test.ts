import { join } from 'node:path';
import { rm, symlink } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliResult, KAIWU, makeFolder, runKaiwu } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';

/** Typed into a shell as it stands in the documentation, with nothing but the shell between. */

let world: World;
let bin: string;
beforeAll(async () => {
  world = await startWorld();
  bin = await makeFolder('kaiwu-bin-');
  await symlink(KAIWU, join(bin, 'kaiwu'));
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(bin, { recursive: true, force: true });
}, 90_000);

const request = (id: number, method: string, params?: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
const INITIALIZE = request(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'smoke', version: '0' },
});
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** `printf '%s\n' '...' '...' | kaiwu mcp serve` */
async function pipe(lines: string[]): Promise<CliResult> {
  const quoted = lines.map((line) => `'${line}'`).join(' ');
  const env = { ...world.env, PATH: `${bin}:${world.env['PATH']}` };
  return runKaiwu(['-c', `printf '%s\\n' ${quoted} | kaiwu mcp serve`], { env, command: ['/bin/sh'] });
}

// oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
type Answer = { id: number; result?: any; error?: any };

/** One compact line of JSON for each request, and nothing else. */
async function answersTo(lines: string[]): Promise<Map<number, Answer>> {
  const { code, stdout, stderr } = await pipe(lines);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const said = stdout.split('\n');
  expect(said.pop()).toBe('');
  const answers = said.map((line) => {
    const answer = JSON.parse(line) as Answer;
    expect(JSON.stringify(answer)).toBe(line);
    return [answer.id, answer] as const;
  });
  const asked = lines.flatMap((line) => (JSON.parse(line) as { id?: number }).id ?? []);
  expect(answers).toHaveLength(asked.length);
  expect(new Set(answers.map(([id]) => id))).toEqual(new Set(asked));
  return new Map(answers);
}

const resources = [
  request(2, 'resources/list'),
  request(3, 'resources/templates/list'),
  request(4, 'resources/read', { uri: 'kaiwu://prompts/identity' }),
];

describe('printf into kaiwu mcp serve', () => {
  test('the tools', async () => {
    const answers = await answersTo([INITIALIZE, INITIALIZED, request(2, 'tools/list')]);
    expect(answers.get(1)?.result).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    });
    const names = answers.get(2)?.result.tools.map(({ name }: { name: string }) => name);
    for (const name of ['memory_recall', 'memory_fetch', 'memory_list', 'memory_learn', 'memory_forget'])
      expect(names).toContain(name);
  });

  test('the resources: a text for every sub-agent that is built in, and none for another', async () => {
    const answers = await answersTo([INITIALIZE, INITIALIZED, ...resources]);
    const rows = answers.get(2)?.result.resources as { uri: string; mimeType: string }[];
    const files = readdirSync(join(import.meta.dirname, '../../src/backend/assistant/texts/agents'));
    const expected = files.map((name) => `kaiwu://prompts/agents/${name.replace(/\.md$/, '')}`).toSorted();
    expect(rows.map(({ uri }) => uri).filter((uri) => uri.includes('/agents/'))).toEqual(expected);
    expect(answers.get(3)?.result.resourceTemplates).toHaveLength(2);
    expect(answers.get(4)?.result.contents).toMatchObject([
      { uri: 'kaiwu://prompts/identity', mimeType: 'text/markdown', text: expect.stringMatching(/^# /) },
    ]);
    // Each of them reads.
    const reads = expected.map((uri, i) => request(10 + i, 'resources/read', { uri }));
    const texts = await answersTo([INITIALIZE, INITIALIZED, ...reads]);
    for (let i = 0; i < expected.length; i += 1) {
      expect(texts.get(10 + i)?.result.contents[0].text.length).toBeGreaterThan(100);
    }
  });

  test('prompts, completion, and what is refused', async () => {
    const answers = await answersTo([
      INITIALIZE,
      INITIALIZED,
      request(2, 'prompts/list'),
      request(3, 'prompts/get', { name: 'triage_inbox' }),
      request(4, 'completion/complete', {
        ref: { type: 'ref/resource', uri: 'kaiwu://sessions/{sessionId}' },
        argument: { name: 'agentId', value: 'dem' },
      }),
      request(5, 'resources/read', { uri: 'kaiwu://nowhere' }),
      request(6, 'resources/read', { uri: '' }),
      request(7, 'resources/read', { uri: 'kaiwu://sessions/sess_none' }),
      request(8, 'prompts/get', { name: 'review_session' }),
    ]);
    expect(answers.get(2)?.result.prompts.map(({ name }: { name: string }) => name)).toEqual([
      'plan_change',
      'review_session',
      'triage_inbox',
    ]);
    expect(answers.get(3)?.result.messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    expect(answers.get(4)?.result.completion).toMatchObject({ values: ['demo'], hasMore: false });
    expect([5, 6, 7, 8].map((id) => answers.get(id)?.error.code)).toEqual([-32002, -32602, -32002, -32602]);
    expect(answers.get(8)?.error.message).toContain('arguments.');
  });

  test('a call by the dotted name', async () => {
    const call = (id: number, name: string, args: object) =>
      request(id, 'tools/call', { name, arguments: args });
    const learned = await answersTo([
      INITIALIZE,
      INITIALIZED,
      call(2, 'memory.learn', { text: 'The gate of the garden is green.' }),
    ]);
    expect(learned.get(2)?.result.structuredContent.item).toMatchObject({ sources: ['mcp:smoke'] });
    const recalled = await answersTo([
      INITIALIZE,
      INITIALIZED,
      call(2, 'memory.recall', { question: 'garden gate' }),
      call(3, 'memory_recall', { question: 'garden gate' }),
    ]);
    expect(JSON.stringify(recalled.get(2)?.result)).toContain('green');
    expect(recalled.get(2)?.result.structuredContent).toEqual(recalled.get(3)?.result.structuredContent);
  });

  test('with no backend', async () => {
    await world.kill();
    const answers = await answersTo([
      INITIALIZE,
      INITIALIZED,
      request(5, 'tools/list'),
      request(6, 'prompts/list'),
      ...resources,
    ]);
    expect(answers.get(2)?.result.resources.length).toBeGreaterThan(7);
    expect(answers.get(3)?.result.resourceTemplates).toHaveLength(2);
    expect(answers.get(4)?.error).toMatchObject({ code: -32000, data: { code: 'backend_unreachable' } });
    expect(answers.get(5)?.result.tools.length).toBeGreaterThan(10);
    expect(answers.get(6)?.result.prompts).toHaveLength(3);
  });
});
