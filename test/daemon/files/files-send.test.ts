import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KaiwuError } from '../../../src/core/errors.ts';
import type { SealedFile } from '../../../src/core/file.ts';
import type { SessionEventBody } from '../../../src/core/session.ts';
import { createFiles, type FileOptions } from '../../../src/daemon/files/files.ts';
import { decryptStream, makeIdentity, toRecipient, unsealText } from '../../../src/local/identity-age.ts';
import { collectLog } from '../helpers/world.ts';

let workspace: string;
let identity: string;
let recipient: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'kaiwu-send-'));
  identity = await makeIdentity();
  recipient = await toRecipient(identity);
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

/** A backend that takes uploads as `take` says, and keeps what it was told. */
function open(take: FileOptions['upload'], more: Partial<FileOptions> = {}) {
  const committed: SealedFile[] = [];
  const events: SessionEventBody[] = [];
  const files = createFiles({
    journal: {
      session: (sessionId) =>
        sessionId === 's1'
          ? ({ directory: workspace } as ReturnType<Parameters<typeof createFiles>[0]['journal']['session']>)
          : undefined,
      running: () => undefined,
      append: (_, bodies) => {
        events.push(...bodies);
        return [];
      },
    },
    log: collectLog([]),
    files: {
      maxBytes: 1_000_000,
      ownRecipient: async () => recipient,
      upload: take,
      commit: async (_, file) => void committed.push(file),
      ...more,
    },
  });
  const send = (path: string, params: object = {}) =>
    files.send({ sessionId: 's1', fileId: 'file_1', path, recipient, ...params });
  return { files, send, committed, events };
}

const collect = async (stream: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};

describe('sending', () => {
  it('begins again when the connection breaks, and tells what the whole try sent', async () => {
    const content = Buffer.alloc(300_000, 'abc');
    await writeFile(join(workspace, 'a.txt'), content);
    const received: Buffer[] = [];
    let tries = 0;
    const { send, committed, events } = open(async (_, body) => {
      tries += 1;
      if (tries === 1) {
        for await (const _part of body) throw new KaiwuError('backend_unreachable', 'broken');
      }
      received.push(await collect(body));
    });
    expect(await send('a.txt', { message: 'hi' })).toMatchObject({ sizeBytes: 300_000, message: 'hi' });
    expect(tries).toBe(2);
    expect((await collect(await decryptStream(parts(received[0]!), identity))).equals(content)).toBe(true);
    const [{ sealed }] = committed as [SealedFile];
    expect(JSON.parse(await unsealText(sealed, identity))).toMatchObject({
      fileId: 'file_1',
      fileName: 'a.txt',
      message: 'hi',
      sizeBytes: 300_000,
    });
    expect(events).toMatchObject([{ type: 'tool_call', content: { display: { kind: 'file', sealed } } }]);
  });

  it('gives up after three tries, and at once when the backend refuses', async () => {
    await writeFile(join(workspace, 'a.txt'), 'x');
    for (const [code, times] of [
      ['backend_unreachable', 3],
      ['not_found', 1],
    ] as const) {
      let tries = 0;
      const { send, committed } = open(async () => {
        tries += 1;
        throw new KaiwuError(code, 'no');
      });
      await expect(send('a.txt')).rejects.toMatchObject({ code });
      expect([tries, committed]).toEqual([times, []]);
    }
  });

  it('of a file that outgrows the limit on its way ends as file_too_large, described to nobody', async () => {
    await writeFile(join(workspace, 'log'), 'x'.repeat(900_000));
    const { send, committed } = open(async (_, body) => {
      let first = true;
      for await (const _part of body) {
        if (first) await appendFile(join(workspace, 'log'), 'y'.repeat(200_000));
        first = false;
      }
    });
    await expect(send('log')).rejects.toMatchObject({ code: 'file_too_large' });
    expect(committed).toEqual([]);
  });

  it('of a file that is cut while it is read is an error, not a torn file', async () => {
    await writeFile(join(workspace, 'log'), 'x'.repeat(900_000));
    const { send, committed } = open(async (_, body) => {
      let first = true;
      for await (const _part of body) {
        if (first) await truncate(join(workspace, 'log'), 400_000);
        first = false;
      }
    });
    await expect(send('log')).rejects.toMatchObject({ code: 'file_read_error' });
    expect(committed).toEqual([]);
  });

  it('of what was reviewed is refused when another content went out', async () => {
    await writeFile(join(workspace, 'a.txt'), 'reviewed');
    const { files, send, committed } = open(async (_, body) => void (await collect(body)));
    const reviewed = await files.look({ sessionId: 's1', path: 'a.txt' });
    expect(reviewed).toMatchObject({ file: 'a.txt', sizeBytes: 8 });
    await writeFile(join(workspace, 'a.txt'), 'replaced');
    await expect(send('a.txt', { reviewed })).rejects.toMatchObject({ code: 'approval_stale' });
    expect(committed).toEqual([]);
    await writeFile(join(workspace, 'a.txt'), 'reviewed');
    expect(await send('a.txt', { reviewed })).toMatchObject({ sizeBytes: 8 });
  });

  it('to a recipient that this machine does not know is refused before anything is read', async () => {
    await writeFile(join(workspace, 'a.txt'), 'x');
    const { send } = open(() => Promise.reject(new Error('nothing may be uploaded')));
    const other = await toRecipient(await makeIdentity());
    await expect(send('a.txt', { recipient: other })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('for a session that is not known here has no directory', async () => {
    const { files } = open(async () => undefined);
    await expect(files.look({ sessionId: 's2', path: 'a' })).rejects.toMatchObject({
      code: 'session_directory_unavailable',
    });
    await expect(files.look({ sessionId: 's2', path: ' ' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

async function* parts(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}
