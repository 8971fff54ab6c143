import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPortabilityProblems } from '../../src/surfaces/mcp/tool-check.ts';
import type { McpTool } from '../../src/surfaces/mcp/tools.ts';
import { KAIWU } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { startHost } from '../surfaces/mcp/helpers/host.ts';
import {
  connectMcp,
  type Generation,
  GENERATIONS,
  type McpHost,
  type Output,
  pipeMcp,
} from './helpers/mcp-host.ts';

const open: { close(): Promise<void> }[] = [];
let world: World;
let workspace: string;

const connect = (args: string[] = [], generation: Generation = 'legacy') =>
  connectMcp(world.env, { args, generation, onEnd: (client) => void open.push(client) });

async function spawnDemo(host: McpHost, title = 'A session'): Promise<string> {
  const spawned = await host.ok('session_spawn_new', { agentId: 'demo', directory: workspace, title });
  expect(spawned).toMatchObject({ status: 'idle', title });
  return spawned['sessionId'] as string;
}

beforeAll(async () => {
  world = await startWorld();
  workspace = join(world.home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'notes.txt'), 'hello\n');
  execFileSync('git', ['init', '--quiet', workspace]);
}, 90_000);

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 90_000);

describe.each(GENERATIONS)('the main job over %s', (_, generation) => {
  let host: McpHost;
  let sessionId: string;

  beforeAll(async () => {
    host = await connect([], generation);
    sessionId = await spawnDemo(host, 'First');
  }, 60_000);

  test('a message is sent and its finished turn comes back', async () => {
    const sent = await host.ok('session_message_send', { sessionId, message: 'say hello', wait: true });
    expect(sent).toMatchObject({ sessionId, status: 'completed', reply: 'hello' });
    const listed = await host.ok('session_message_send', { sessionId, message: 'ls', wait: true });
    expect(listed['reply']).toContain('notes.txt');
  });

  test('the session is listed, has a status and a transcript', async () => {
    const { sessions } = await host.ok('session_list');
    expect(sessions).toContainEqual(expect.objectContaining({ sessionId, title: 'First', agentId: 'demo' }));
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ sessionId, status: 'idle' });
    const { events, lastSeq } = await host.ok('session_transcript_get', { sessionId });
    expect(events.map(({ seq }: Output) => seq)).toEqual(Array.from({ length: lastSeq }, (__, i) => i + 1));
    expect(events).toContainEqual(expect.objectContaining({ type: 'agent_text', text: 'hello' }));
    const { matches } = await host.ok('session_transcript_search', { query: 'hello', sessionId });
    expect(matches.length).toBeGreaterThan(0);
  });

  test('title, mode and model are set', async () => {
    expect(await host.ok('session_title_set', { sessionId, title: '— 漢 🧑‍🚀' })).toMatchObject({
      title: '— 漢 🧑‍🚀',
    });
    const mode_ = await host.ok('session_permission_mode_set', { sessionId, permissionMode: 'read_only' });
    expect(mode_).toMatchObject({ permissionMode: 'read_only' });
    const { models } = await host.ok('agents_models_list', { sessionId });
    const modelId = models.at(-1).id as string;
    expect(await host.ok('session_model_set', { sessionId, modelId })).toMatchObject({ modelId });
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({
      title: '— 漢 🧑‍🚀',
      permissionMode: 'read_only',
      modelId,
    });
    expect(await host.error('session_model_set', { sessionId, modelId: 'none' })).toMatchObject({
      code: 'invalid_input',
    });
  });

  test('a queued turn is waited for', async () => {
    await host.ok('session_message_send', { sessionId, message: 'sleep 1' });
    expect(await host.ok('session_wait_idle', { sessionId, timeoutSeconds: 30 })).toMatchObject({
      idle: true,
    });
  });

  test('it is stopped, archived and brought back', async () => {
    expect(await host.ok('session_stop', { sessionId })).toMatchObject({ status: 'stopped' });
    expect((await host.ok('session_archive', { sessionId }))['archivedAt']).toBeDefined();
    expect(await host.error('session_message_send', { sessionId, message: 'x' })).toMatchObject({
      code: 'session_archived',
    });
    expect((await host.ok('session_unarchive', { sessionId }))['archivedAt']).toBeUndefined();
    const again = await host.ok('session_message_send', { sessionId, message: 'say back', wait: true });
    expect(again).toMatchObject({ status: 'completed', reply: 'back' });
  });

  test('the same actions are found, read about and reached by their ids, with the same results', async () => {
    const { actions } = await host.ok('action_spec_search', { query: 'rename a session' });
    expect(actions[0]).toMatchObject({ id: 'session.title.set', toolName: 'session_title_set' });
    const spec = await host.ok('action_spec_get', { actionId: 'session.title.set' });
    expect(spec['inputSchema'].properties).toHaveProperty('title');
    const { options } = await host.ok('action_options_resolve', {
      actionId: 'session.spawn_new',
      field: 'agentId',
    });
    expect(options).toContainEqual(expect.objectContaining({ value: 'demo' }));
    const input = { sessionId, title: 'By id' };
    const executed = await host.ok('action_execute', { actionId: 'session.title.set', input });
    expect(executed).toEqual(await host.ok('session_title_set', input));
    const read = await host.ok('action_read', { actionId: 'session.status.get', input: { sessionId } });
    expect(read).toEqual(await host.ok('session_status_get', { sessionId }));
    expect(await host.error('action_read', { actionId: 'session.stop', input: { sessionId } })).toMatchObject(
      {
        code: 'invalid_input',
      },
    );
  });
});

describe('the tools', () => {
  test('suit every host, and no result breaks what they promise', async () => {
    const host = await connect();
    const { tools, ...rest } = await host.client.listTools();
    expect(rest).toEqual({});
    expect(tools.length).toBeLessThanOrEqual(40);
    expect((tools as unknown as McpTool[]).flatMap(findPortabilityProblems)).toEqual([]);
    const names = tools.map(({ name }) => name);
    for (const name of [
      'session_list',
      'session_message_send',
      'change_title',
      'action_execute',
      'action_read',
    ]) {
      expect(names).toContain(name);
    }
    expect(names.filter((name) => name.startsWith('approval'))).toEqual([]);
  });

  test('that need nothing take no arguments, null and {} alike', async () => {
    const host = await connect();
    const { tools } = await host.client.listTools();
    const free = tools.filter(
      ({ annotations, inputSchema }) =>
        annotations?.readOnlyHint && (inputSchema.required ?? []).length === 0,
    );
    expect(free.length).toBeGreaterThan(4);
    const lines = free.flatMap(({ name }) => [{ name }, { name, arguments: null }, { name, arguments: {} }]);
    const answers = await pipeMcp(
      world,
      lines.map((params, id) => ({ id, method: 'tools/call', params })),
    );
    const shape = (id: number) => {
      const { isError, structuredContent } = answers.get(id)!['result'];
      return [isError, structuredContent.error?.code, Object.keys(structuredContent).sort()];
    };
    free.forEach((_, i) => {
      expect(shape(3 * i + 1)).toEqual(shape(3 * i));
      expect(shape(3 * i + 2)).toEqual(shape(3 * i));
    });
  });

  test('take what hosts really send, and nothing looser', async () => {
    const host = await connect();
    const list = (limit: unknown) =>
      ['session_list', { limit, task_progress: '- [ ] x', query: null }] as const;
    expect(await host.ok(...list('5'))).toEqual(await host.ok(...list(5)));
    for (const bad of ['5.5', '0x10', '1e3', '', 'five']) {
      const { code, details } = await host.error(...list(bad));
      expect({ code, path: details.issues[0].path }).toEqual({ code: 'invalid_input', path: 'limit' });
    }
    const sessionId = await spawnDemo(host);
    expect(await host.ok('session_title_set', { sessionId, title: '123' })).toMatchObject({ title: '123' });
    const misspelt = await host.error('session_title_set', { sessionId, titel: 'x', title: 'y' });
    expect(misspelt).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('title') });
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: '123' });
    expect(await host.error('session_titel_set')).toMatchObject({
      code: 'unknown_action',
      details: { nearest: expect.arrayContaining(['session_title_set']) },
    });
  });

  test('work on the session that the server was started for, and on none without it', async () => {
    const host = await connect();
    const sessionId = await spawnDemo(host, 'Before');
    expect(await host.error('change_title', { title: 'x' })).toMatchObject({ code: 'session_not_selected' });
    const bound = await connect(['--session', sessionId]);
    expect(await bound.ok('change_title', { title: 'After' })).toMatchObject({ sessionId, title: 'After' });
    expect(await bound.ok('session_status_get')).toMatchObject({ sessionId, title: 'After' });
  });
});

describe('a session that is not there', () => {
  test('is named on stderr when the server was started for it', async () => {
    const host = startHost([process.execPath, KAIWU, 'mcp', 'serve', '--session', 'nope'], '', world.env);
    open.push({ close: async () => host.kill() });
    await host.initialize();
    await expect
      .poll(() => host.stderr())
      .toMatch(/--session: session_not_found: No session has the id "nope"/);
  });
});

describe('input that ends at once', () => {
  test('is answered whole, and the process ends', async () => {
    const answers = await pipeMcp(world, [
      { id: 'list', method: 'tools/list' },
      { id: 'call', method: 'tools/call', params: { name: 'session_list', arguments: {} } },
      {
        id: 'big',
        method: 'tools/call',
        params: { name: 'session_list', arguments: { query: 'x'.repeat(9_000_000) } },
      },
    ]);
    expect(answers.get('list')!['result'].tools.length).toBeGreaterThan(10);
    expect(answers.get('call')!['result'].structuredContent.sessions).toBeDefined();
    expect(answers.get('big')!['result'].structuredContent.error.code).toBe('payload_too_large');
  });
});
