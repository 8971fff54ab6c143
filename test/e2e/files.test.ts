import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

let world: FilesWorld;
beforeAll(async () => {
  world = await startFilesWorld({ KAIWU_LOG: 'debug' });
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

const put = (name: string, content: string | Buffer) => writeFile(join(world.workspace, name), content);
const blobsOf = () => readdir(join(world.home, 'backend/blobs'));

describe('a file that an agent sends', () => {
  it('is told to the agent, stands in the transcript as a tool call, and is saved decrypted', async () => {
    const content = randomBytes(300_000);
    await put('sub/numbers.pdf', content);
    const sent = await world.tool({ path: 'sub/numbers.pdf', message: 'The numbers' });
    expect(sent).toEqual({
      fileId: expect.stringMatching(/^file_[a-z0-9]{16}$/),
      path: 'sub/numbers.pdf',
      fileName: 'numbers.pdf',
      sizeBytes: 300_000,
      mimeType: 'application/pdf',
      message: 'The numbers',
    });
    const fileId = String(sent.fileId);

    const { events } = await world.ok('session.transcript.get', { sessionId: world.sessionId });
    const call = (events as Record<string, unknown>[]).find(({ toolCallId }) => toolCallId === fileId);
    expect(call).toMatchObject({
      type: 'tool_call',
      status: 'completed',
      content: { display: { kind: 'file', fileId, sizeBytes: 300_000, sealed: expect.any(String) } },
    });

    const calls = (events as Record<string, unknown>[]).filter(({ type }) => type === 'tool_call');
    expect(calls.map(({ title }) => title)).toContain('kaiwu.send_file_to_user');
    expect(JSON.stringify(calls)).not.toContain('numbers');

    const listed = (await world.cli(['file', 'list', '--json'])).json.output.files;
    expect(listed[0]).toMatchObject({ fileId, fileName: 'numbers.pdf', message: 'The numbers' });

    const path = join(world.home, 'saved.pdf');
    const got = await world.cli(['file', 'get', fileId, '--output', path, '--json']);
    expect(got.json.output).toMatchObject({ file: path, fileName: 'numbers.pdf' });
    expect(got.stderr).toMatch(/0\.3 of 0\.3 MB\n$/);
    expect((await readFile(path)).equals(content)).toBe(true);
  });

  it.each([
    ['../outside', 'access_denied'],
    ['/etc/passwd', 'access_denied'],
    ['nothing.txt', 'file_not_found'],
    ['sub', 'is_directory'],
    ['pipe', 'not_a_file'],
  ])('is refused for the path %s with %s', async (path, code) => {
    if (path === 'pipe') execFileSync('mkfifo', [join(world.workspace, 'pipe')]);
    expect(await world.tool({ path })).toMatchObject({ error: { code } });
  });

  it.each([{}, { path: '' }, { path: '  ' }])('without a path (%j) is invalid', async (input) => {
    expect(await world.tool(input)).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('keeps a hostile name out of what people save, and shows it escaped', async () => {
    await put('x\u202egpj.exe', 'MZ');
    const envelope = await world.send({ path: 'x\u202egpj.exe' });
    expect(envelope).toMatchObject({
      output: { path: 'x\\u202egpj.exe', fileName: 'x_u202egpj.exe', sizeBytes: 2 },
    });
  });

  it('may be empty', async () => {
    await put('empty', '');
    const { fileId, sizeBytes } = await world.ok('file.send', { sessionId: world.sessionId, path: 'empty' });
    expect(sizeBytes).toBe(0);
    const path = join(world.home, 'empty');
    expect((await world.cli(['file', 'get', String(fileId), '--output', path])).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('');
  });
});

describe('the state on disk', () => {
  it('never holds the content, the name or the message of a file, whatever became of sending it', async () => {
    const canary = `canary-${randomBytes(9).toString('hex')}`;
    const content = `content-${canary}\n`;
    await put(`name-${canary}.txt`, content.repeat(5000));
    const input = { path: `name-${canary}.txt`, message: `message-${canary}` };
    expect(codeOf(await world.send(input))).toBe('ok');
    expect(codeOf(await world.send(input, '--idempotency-key', 'once'))).toBe('ok');
    expect(codeOf(await world.send({ path: `missing-${canary}` }, '--idempotency-key', 'never'))).toBe(
      'file_not_found',
    );
    expect(codeOf(await world.send({ path: `../out-${canary}` }))).toBe('access_denied');
    expect(codeOf(await world.send({ path: `name-${canary}.txt`, typo: canary }))).toBe('invalid_input');
    const { files } = await world.ok('file.list', {});
    const { sealed } = (files as { sealed: string }[])[0]!;
    // The search itself works: what is known to lie there is found.
    expect(grep(sealed.slice(0, 60))).not.toEqual([]);
    expect(grep(canary)).toEqual([]);
  });

  const grep = (text: string): string[] => {
    try {
      return execFileSync('grep', ['-rlaF', text, world.home], { encoding: 'utf8' }).trim().split('\n');
    } catch {
      return [];
    }
  };
});

describe('sending', () => {
  it('again under one idempotency key is one file', async () => {
    await put('once.txt', 'once');
    const before = (await blobsOf()).length;
    const first = await world.send({ path: 'once.txt' }, '--idempotency-key', 'one-file');
    expect(await world.send({ path: 'once.txt' }, '--idempotency-key', 'one-file')).toEqual(first);
    expect((await blobsOf()).length).toBe(before + 1);
    expect(codeOf(await world.send({ path: 'sub' }, '--idempotency-key', 'one-file'))).toBe('conflict');
  });
});

describe('saving', () => {
  let fileId: string;
  beforeAll(async () => {
    await put('a.txt', 'x'.repeat(200_000));
    fileId = String((await world.ok('file.send', { sessionId: world.sessionId, path: 'a.txt' })).fileId);
  });

  it('replaces nothing without --force', async () => {
    const path = join(world.home, 'mine.txt');
    await writeFile(path, 'mine');
    const refused = await world.cli(['file', 'get', fileId, '--output', path, '--json']);
    expect([refused.json.error.code, await readFile(path, 'utf8')]).toEqual(['conflict', 'mine']);
    expect((await world.cli(['file', 'get', fileId, '--output', path, '--force'])).code).toBe(0);
    expect((await readFile(path)).length).toBe(200_000);
  });

  it.each([
    ['cut by a byte', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['cut at a border of its chunks', (bytes: Buffer) => bytes.subarray(0, bytes.length % 65_552)],
    ['empty', () => Buffer.alloc(0)],
    ['changed by a bit', (bytes: Buffer) => flip(bytes, bytes.length - 70_000)],
    ['changed in its head', (bytes: Buffer) => flip(bytes, 60)],
    ['lengthened', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
  ])('what is %s at the backend leaves no file', async (_, damage) => {
    const blob = join(world.home, 'backend/blobs', fileId);
    const whole = await readFile(blob);
    await writeFile(blob, damage(Buffer.from(whole)));
    const folder = join(world.home, 'user');
    const before = await readdir(folder);
    const { json } = await world.cli(['file', 'get', fileId, '--output', folder, '--json']);
    await writeFile(blob, whole);
    expect(json.error.code).toBe('state_damaged');
    expect(await readdir(folder)).toEqual(before);
  });

  it('refuses the content of another file under this id', async () => {
    await put('b.txt', 'y'.repeat(200_000));
    const other = await world.ok('file.send', { sessionId: world.sessionId, path: 'b.txt' });
    const at = (id: unknown) => join(world.home, 'backend/blobs', String(id));
    await writeFile(at(other.fileId), await readFile(at(fileId)));
    const path = join(world.home, 'swapped');
    const { json } = await world.cli(['file', 'get', String(other.fileId), '--output', path, '--json']);
    expect(json.error.code).toBe('state_damaged');
  });

  it('of what was never sent is not found', async () => {
    const { json } = await world.cli(['file', 'get', 'file_0123456789abcdef', '--json']);
    expect(json.error.code).toBe('not_found');
  });
});

const flip = (bytes: Buffer, at: number): Buffer => {
  bytes[at] = bytes[at]! ^ 1;
  return bytes;
};
