import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { connectMcp, type McpHost } from './helpers/mcp-host.ts';

const open: { close(): Promise<void> }[] = [];
let world: World;

const connect = (to = world): Promise<McpHost> =>
  connectMcp(to.env, { args: [], generation: 'legacy', onEnd: (client) => void open.push(client) });

beforeAll(async () => {
  world = await startWorld();
}, 90_000);
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 90_000);

const list = async (host: McpHost, filter: object) =>
  (await host.ok('memory_list', { limit: 100, filter }))['items'] as { text: string; sources: string[] }[];

test('two hosts that learn at once lose nothing, and each is named as the source', async () => {
  const hosts = await Promise.all([connect(), connect()]);
  await Promise.all(
    hosts.flatMap((host, i) =>
      Array.from({ length: 20 }, (_, n) =>
        host.ok('memory_learn', { text: `Lesson ${n} of host ${i}.`, tags: ['lesson'] }),
      ),
    ),
  );
  const items = await list(hosts[0], { tags_any: ['lesson'] });
  expect(new Set(items.map(({ text }) => text)).size).toBe(40);
  expect(items.every(({ sources }) => sources.length === 1 && sources[0]!.startsWith('mcp:'))).toBe(true);
});

test('a file of a workspace is taken in through its machine, and what may not be sent may not be read', async () => {
  const workspace = join(world.home, 'notes');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'birds.md'), '# Birds\n\nThe bittern booms at dusk.\n');
  writeFileSync(join(workspace, 'picture.bin'), Buffer.from([0, 159, 146, 150]));
  writeFileSync(join(world.home, 'outside.txt'), 'secret');
  const host = await connect();
  const { sessionId } = await host.ok('session_spawn_new', { agentId: 'demo', directory: workspace });
  const ingest = (path: string) => ({ actionId: 'memory.ingest', input: { sessionId, path } });
  await host.ok('action_execute', ingest('birds.md'));
  const { hits } = await host.ok('memory_fetch', { query: 'bittern', filter: { file_path: 'birds.md' } });
  expect(hits).toMatchObject([{ kind: 'document', thread_id: sessionId, workspace }]);
  for (const [path, code] of [
    ['../outside.txt', 'access_denied'],
    ['nothing.md', 'file_not_found'],
    ['picture.bin', 'not_a_file'],
    ['.', 'is_directory'],
  ] as const) {
    expect([path, await host.error('action_execute', ingest(path))]).toMatchObject([path, { code }]);
  }
}, 60_000);

test('what was learned is there after the backend was killed in the middle', async () => {
  const home = await makeFolder('kaiwu-memory-');
  const first = await startWorld({ home });
  const host = await connect(first);
  await host.ok('memory_learn', { text: 'Known before the crash.', tags: ['crash'] });
  const writes = Array.from({ length: 20 }, (_, n) =>
    host.ok('memory_learn', { text: `During the crash, ${n}.`, tags: ['crash'] }).catch(() => undefined),
  );
  await first.kill();
  await Promise.all(writes);
  await first.stop();
  const second = await startWorld({ home });
  const texts = (await list(await connect(second), { tags_any: ['crash'] })).map(({ text }) => text);
  await second.stop();
  await rm(home, { recursive: true, force: true });
  expect(texts).toContain('Known before the crash.');
  expect(new Set(texts).size).toBe(texts.length);
}, 120_000);
