import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findVersion } from '../../../src/daemon/agents/version.ts';

let folder: string;
const env = { PATH: process.env.PATH ?? '' };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kaiwu-version-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program as npm installs it; it tells that it was started. */
function install(bin: unknown, script = '#!/bin/sh\necho asked 9.9.9\n'): string {
  const home = join(folder, 'node_modules/@someone/agent');
  mkdirSync(join(home, 'dist'), { recursive: true });
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  const manifest = { name: '@someone/agent', version: '1.2.3', bin };
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(home, 'dist/main.sh'), script, { mode: 0o755 });
  const command = join(folder, 'node_modules/.bin/agent');
  symlinkSync(join(home, 'dist/main.sh'), command);
  return command;
}

test.each([{ agent: 'dist/main.sh' }, 'dist/main.sh'])(
  'the npm package of a program tells its version, and the program is not started: %j',
  async (bin) => {
    expect(await findVersion(install(bin), env)).toBe('1.2.3');
  },
);

test.each([{ other: 'dist/main.sh' }, undefined, 7])(
  'a package that does not call the program its own tells nothing of it: %j',
  async (bin) => {
    expect(await findVersion(install(bin), env)).toBe('9.9.9');
  },
);

test('a program that does not answer has no version', async () => {
  expect(await findVersion(install(undefined, '#!/bin/sh\necho none of yours\n'), env)).toBeUndefined();
});
