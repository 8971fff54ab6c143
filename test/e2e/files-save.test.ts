import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KAIWU } from '../helpers/kaiwu.ts';
import { createApi } from './helpers/api.ts';
import { type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

const CONTENT = randomBytes(200_000);

let world: FilesWorld;
let folder: string;
beforeAll(async () => {
  world = await startFilesWorld();
  folder = join(world.home, 'downloads');
  await mkdir(folder);
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

async function send(name: string, content: Buffer | string = CONTENT): Promise<string> {
  await writeFile(join(world.workspace, name), content);
  return String((await world.ok('file.send', { sessionId: world.sessionId, path: name })).fileId);
}

const get = (args: string[]) => world.cli(['file', 'get', ...args], { cwd: folder });

describe('kaiwu file get', () => {
  it('without more saves here, under the name that the file has', async () => {
    const { code, stdout } = await get([await send('report.bin')]);
    const path = join(folder, 'report.bin');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`is saved: ${path}`)]);
    expect((await readFile(path)).equals(CONTENT)).toBe(true);
  });

  it('takes the place of nothing unless it is told to', async () => {
    const fileId = await send('mine.txt', 'theirs');
    const path = join(folder, 'mine.txt');
    await writeFile(path, 'mine');
    const { json } = await get([fileId, '--json']);
    expect(json.error).toMatchObject({ code: 'conflict', hint: expect.stringContaining('--force') });
    expect(await readFile(path, 'utf8')).toBe('mine');
    expect((await get([fileId, '--force'])).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('theirs');
  });

  it.each([
    ['NUL', '_NUL'],
    ['CON.tar.gz', '_CON.tar.gz'],
    ['a:b.md', 'a_b.md'],
    ['dot.', 'dot_'],
    ['evil. ', 'evil__'],
    ['x\u202Egpj.exe', 'x_u202egpj.exe'],
    ['.hidden', '.hidden'],
    ['-rf', '-rf'],
    ['a\u202Fb.png', 'a b.png'],
    [`${'n'.repeat(251)}.txt`, `${'n'.repeat(196)}.txt`],
    [`${'长'.repeat(83)}.png`, `${'长'.repeat(65)}.png`],
  ])('saves %j under a name that every system takes: %j', async (name, safe) => {
    const fileId = await send(name, name);
    expect((await get([fileId])).code).toBe(0);
    expect(await readFile(join(folder, safe), 'utf8')).toBe(name);
  });

  it('gets what an agent named with plain spaces, as screens show them', async () => {
    const name = 'Screenshot at 9.41.07\u202fAM.png';
    await writeFile(join(world.workspace, name), 'a picture');
    const sent = await world.tool({ path: 'Screenshot at 9.41.07 AM.png' });
    expect(sent).toMatchObject({
      fileName: 'Screenshot at 9.41.07 AM.png',
      sizeBytes: 9,
      mimeType: 'image/png',
    });
    expect((await get([String(sent.fileId)])).code).toBe(0);
    expect(await readFile(join(folder, 'Screenshot at 9.41.07 AM.png'), 'utf8')).toBe('a picture');

    await writeFile(join(world.workspace, name.replace('\u202f', '\u00a0')), 'another one');
    expect(await world.tool({ path: 'Screenshot at 9.41.07 AM.png' })).toMatchObject({
      error: { code: 'file_not_found', details: { candidates: [expect.any(String), expect.any(String)] } },
    });
  });

  it('pours the content alone to stdout, and waits for a slow reader', async () => {
    const fileId = await send('pipe.bin');
    const line = `"${process.execPath}" "${KAIWU}" file get ${fileId} --output -`;
    const run = (command: string) =>
      execFileSync('sh', ['-c', command], {
        env: world.env,
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    expect(run(line).equals(CONTENT)).toBe(true);
    expect(run(`${line} | (sleep 1; cat)`).equals(CONTENT)).toBe(true);
    // A reader that has had enough is no error.
    const first = run(`{ ${line}; echo $? > code; } | head -c 10`);
    expect(first.equals(CONTENT.subarray(0, 10))).toBe(true);
    await expect.poll(() => readFile(join(folder, 'code'), 'utf8').catch(() => '')).toBe('0\n');
    expect(await readdir(folder)).not.toContain('pipe.bin');
  });

  it('ends in an error when what it poured was not whole', async () => {
    const fileId = await send('cut.bin');
    const blob = join(world.home, 'backend/blobs', fileId);
    await writeFile(blob, (await readFile(blob)).subarray(0, -20_000));
    const { code, stderr } = await get([fileId, '--output', '-']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('damaged or not whole')]);
  });

  it('does not mix the content with JSON', async () => {
    const { json } = await get([await send('both.bin'), '--output', '-', '--json']);
    expect(json.error.code).toBe('invalid_input');
  });
});

describe('the content of a file at the backend', () => {
  const ask = async (fileId: string, method: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${world.url}/v1/files/${fileId}/content`, { method, headers });
    return { status: answer.status, bytes: answer.headers.get('content-length'), body: await answer.text() };
  };

  it('is told of by HEAD as by GET, without the content', async () => {
    const { token } = createApi(world);
    const fileId = await send('head.bin');
    const whole = await ask(fileId, 'GET', token);
    expect(whole).toMatchObject({ status: 200, bytes: expect.stringMatching(/^20\d{4}$/) });
    expect(await ask(fileId, 'HEAD', token)).toEqual({ ...whole, body: '' });
    expect(await ask('file_0123456789abcdef', 'HEAD', token)).toMatchObject({ status: 404, body: '' });
    expect(await ask(fileId, 'HEAD')).toMatchObject({ status: 401, body: '' });
  });

  it('is gone for good once the file is removed, with what is known of it', async () => {
    const { token } = createApi(world);
    const fileId = await send('removed.bin');
    const { json } = await world.cli(['file', 'remove', fileId, '--json']);
    expect(json.output).toMatchObject({ fileId, sizeBytes: CONTENT.length });
    expect(await readdir(join(world.home, 'backend/blobs'))).not.toContain(fileId);
    expect((await ask(fileId, 'GET', token)).status).toBe(404);
    expect((await get([fileId, '--json'])).json.error.code).toBe('not_found');
    expect((await world.cli(['file', 'remove', fileId, '--json'])).json.error.code).toBe('not_found');
    // A session's own tools cannot.
    const input = JSON.stringify({ actionId: 'file.remove', input: { fileId: await send('kept.bin') } });
    const { sessionId } = world;
    const message = `tool action_execute ${input}`;
    const { reply } = await world.ok('session.message.send', { sessionId, message, wait: true });
    expect(JSON.parse(String(reply))).toMatchObject({ error: { code: 'action_disabled' } });
  });
});
