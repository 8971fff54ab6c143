import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeOf, type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

const ROOM = 3_000_000;

let world: FilesWorld;
beforeAll(async () => {
  world = await startFilesWorld({ KAIWU_FILES_TOTAL_BYTES: String(ROOM) });
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

const blobs = () => readdir(join(world.home, 'backend/blobs'));

it('a file for which no room is left is refused by name, leaves nothing, and fits once another is removed', async () => {
  const { workspace, sessionId } = world;
  for (const name of ['one.bin', 'two.bin']) await writeFile(join(workspace, name), Buffer.alloc(2_000_000));
  const { fileId } = await world.ok('file.send', { sessionId, path: 'one.bin' });

  // In the middle of its upload, and told to the agent with the way out.
  const refused = await world.tool({ path: 'two.bin' });
  expect(refused).toMatchObject({
    error: {
      code: 'storage_full',
      hint: expect.stringContaining('kaiwu file remove'),
      details: { maxBytes: ROOM, usedBytes: expect.any(Number) },
    },
  });
  expect(await blobs()).toEqual([fileId]);
  const listed = await world.ok('file.list', {});
  expect(listed.files).toMatchObject([{ fileId }]);
  expect(listed.usage).toMatchObject({ maxBytes: ROOM });
  const { usedBytes } = listed.usage as { usedBytes: number };
  expect(usedBytes).toBeGreaterThan(2_000_000);
  expect(usedBytes).toBeLessThan(2_010_000);

  await world.ok('file.remove', { fileId });
  expect(codeOf(await world.send({ path: 'two.bin' }))).toBe('ok');
  expect(await blobs()).toHaveLength(1);
});
