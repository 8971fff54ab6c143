import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, property, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isReserved, toMimeType, toSafeName } from '../../../src/daemon/files/names.ts';
import { openInWorkspace } from '../../../src/daemon/files/open-file.ts';

let workspace: string;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'kaiwu-names-'));
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

const find = async (name: string): Promise<string> => {
  const file = await openInWorkspace(workspace, name, 1000);
  await file.close();
  return file.path.slice(workspace.length + 1);
};

describe('spaces', () => {
  const screenshot = 'Screenshot 2026-11-30 at 9.41.07\u202fAM.png';

  it.each([screenshot, 'a\u00a0b.txt', 'a\u2009b.txt'])('%j is found with plain ones', async (name) => {
    await writeFile(join(workspace, name), 'x');
    expect(await find(name.replaceAll(/\p{Zs}/gu, ' '))).toBe(name);
    expect(await find(name)).toBe(name);
  });

  it('that fit two names are told, with both', async () => {
    await writeFile(join(workspace, 'a\u202fb'), '');
    await writeFile(join(workspace, 'a\u00a0b'), '');
    await expect(find('a b')).rejects.toMatchObject({
      code: 'file_not_found',
      hint: expect.stringContaining('"a\\u00a0b"'),
      details: { candidates: expect.arrayContaining(['a\u00a0b']) },
    });
  });

  it('that are exact win over others', async () => {
    await writeFile(join(workspace, 'a b'), '');
    await writeFile(join(workspace, 'a\u00a0b'), '');
    expect(await find('a b')).toBe('a b');
  });
});

describe('a name', () => {
  it.each([
    ['report.md', 'report.md'],
    ['NUL', '_NUL'],
    ['CON.tar.gz', '_CON.tar.gz'],
    ['com1.txt', '_com1.txt'],
    ['a:b.md', 'a_b.md'],
    ['evil. ', 'evil__'],
    ['x\u202egpj.exe', 'x_u202egpj.exe'],
    ['a\u200bb.txt', 'a_u200bb.txt'],
    ['\u001b[2K.txt', '_u001b[2K.txt'],
    ['a\u202fb.png', 'a b.png'],
    ['<b>&.html', '_b_&.html'],
    ['..', '__'],
    ['', 'file'],
    ['报告.pdf', '报告.pdf'],
  ])('%j is kept as %j', (name, safe) => {
    expect(toSafeName(name)).toBe(safe);
  });

  it('of any characters becomes one that every system takes', () => {
    assert(
      property(string({ unit: 'grapheme', maxLength: 400 }), (name) => {
        const safe = toSafeName(name);
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(201);
        expect(safe).toMatch(/^[^\u0000-\u001f<>:"/\\|?*\u202a-\u202e]+$/u);
        expect(safe).not.toMatch(/[. ]$/);
        expect(isReserved(safe)).toBe(false);
      }),
    );
  });

  it('that is long keeps its end', () => {
    const safe = toSafeName(`${'长'.repeat(200)}.png`);
    expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
    expect(safe).toMatch(/长\.png$/);
  });

  it('reserved on Windows is an ordinary one where it exists', async () => {
    await writeFile(join(workspace, 'NUL'), 'x');
    expect(await find('NUL')).toBe('NUL');
  });

  it.each([
    ['a.PNG', 'image/png'],
    ['a.tar.gz', 'application/gzip'],
    ['__proto__', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
  ])('%s is %s', (name, type) => expect(toMimeType(name)).toBe(type));
});
