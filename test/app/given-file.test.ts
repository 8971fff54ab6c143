import { execFileSync } from 'node:child_process';
import { openSync, writeFileSync, closeSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readGivenFile } from '../../src/app/given-file.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'kaiwu-given-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const read = (path: string, silenceMs?: number) =>
  readGivenFile(path, { stdin: process.stdin, cwd }, silenceMs);

test('a file is read whole, and one that is not there is named', async () => {
  await writeFile(join(cwd, 'a.txt'), 'é漢'.repeat(50_000));
  expect((await read('a.txt')).text).toHaveLength(100_000);
  await expect(read('b.txt')).rejects.toMatchObject({ code: 'file_not_found' });
  await expect(read('.')).rejects.toMatchObject({ code: 'is_directory' });
});

test('a pipe is read while somebody writes to it, and holds nothing up when nobody does', async () => {
  const pipe = join(cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(read('pipe', 50)).rejects.toMatchObject({ code: 'timeout' });
  // Both ends, so that the writer need not wait for a reader.
  const writer = openSync(pipe, constants.O_RDWR);
  writeFileSync(writer, '{"a": 1}');
  const reading = read('pipe');
  setImmediate(() => closeSync(writer));
  expect((await reading).text).toBe('{"a": 1}');
});
