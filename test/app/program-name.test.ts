import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { programName } from '../../src/app/program-name.ts';
import { makeFolder } from '../helpers/kaiwu.ts';

let folder: string;
let binary: string;
beforeAll(async () => {
  folder = await makeFolder();
  binary = join(folder, 'a b', 'kaiwu');
  for (const name of ['a b', 'links', 'other', 'node_modules/.bin'])
    await mkdir(join(folder, name), { recursive: true });
  for (const file of [binary, join(folder, 'other/kaiwu')]) {
    await writeFile(file, '');
    await chmod(file, 0o755);
  }
  await symlink(binary, join(folder, 'links/kaiwu'));
  await symlink(binary, join(folder, 'node_modules/.bin/kaiwu'));
});
afterAll(() => rm(folder, { recursive: true }));

it('is the plain name only where the PATH of a person finds this very program under it', () => {
  const nameFor = (...folders: string[]) => {
    const PATH = folders.map((name) => join(folder, name)).join(':');
    return programName({ channel: 'kaiwu', binary, env: { PATH } });
  };
  expect(nameFor('none', 'links')).toBe('kaiwu');
  expect(nameFor('other', 'links')).toBe(`'${binary}'`);
  expect(nameFor('node_modules/.bin')).toBe(`'${binary}'`);
  expect(programName({ channel: 'hdev', binary: '/opt/kaiwu/bin/hdev', env: {} })).toBe(
    '/opt/kaiwu/bin/hdev',
  );
});
