import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHANNELS, resolveHome, toHomePaths } from '../../src/local/home.ts';
import { ensurePrivateFolder } from '../../src/local/private-folder.ts';
import { KAIWU, makeFolder, runKaiwu } from '../helpers/kaiwu.ts';
import { makeHome } from '../helpers/signed-in.ts';

const isRoot = process.getuid?.() === 0;
/** Nobody has it, here or in the password database. */
const STRANGER = 54_321;

describe('where the state lies', () => {
  it('KAIWU_HOME wins, then HOME, then the password database; each channel has its own', () => {
    expect(resolveHome({ channel: 'kaiwu', kaiwuHome: '/a/b', userHome: '/home/u' })).toBe('/a/b');
    expect(CHANNELS.map((channel) => resolveHome({ channel, userHome: '/home/u' }))).toEqual([
      '/home/u/.kaiwu',
      '/home/u/.kaiwu-preview',
      '/home/u/.kaiwu-dev',
    ]);
    for (const userHome of ['', undefined]) {
      expect(resolveHome({ channel: 'kaiwu', userHome })).toBe(join(userInfo().homedir, '.kaiwu'));
    }
  });

  it.each(['/', 'relative', 'undefined'])('HOME=%j is refused', (userHome) => {
    expect(() => resolveHome({ channel: 'kaiwu', userHome })).toThrow(/no home folder of its own/);
  });

  it('a user without any home gets a clear error, and no folder is made', async () => {
    const folder = await makeFolder();
    const env = { PATH: process.env.PATH, HOME: '/' };
    const { code, stderr } = await runKaiwu(['server', 'list'], { env, cwd: folder });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error state_damaged: .*no home folder[\s\S]*Set KAIWU_HOME/),
    ]);
    expect(await readdir(folder)).toEqual([]);
    expect(existsSync('/.kaiwu')).toBe(false);
    await rm(folder, { recursive: true });
  });

  it.runIf(isRoot)('nor does one that the password database does not know', async () => {
    const { code, stderr } = await runKaiwu(['server', 'list'], {
      env: { PATH: process.env.PATH },
      cwd: '/',
      uid: STRANGER,
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/no home folder/)]);
  });

  it('folders are 0700 and files 0600, whatever the umask', async () => {
    const home = await makeHome();
    const args = [
      '-c',
      'umask 000; exec "$0" "$@"',
      process.execPath,
      KAIWU,
      'server',
      'add',
      'x',
      'https://x.example',
    ];
    await runKaiwu(args, { command: ['/bin/sh'], env: home.env });
    const modes = await Promise.all(
      ['.', 'config.json'].map(async (name) => (await stat(home.path(name))).mode & 0o777),
    );
    expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600']);
    await home.remove();
  });
});

describe('a folder that others use', () => {
  it.each(['up', 'backend start', 'server add x https://x.example', 'session list', 'mcp serve'])(
    'is refused as a home and left as it is: %s',
    async (line) => {
      const folder = await makeFolder();
      await chmod(folder, 0o1777);
      await writeFile(join(folder, 'of-others.txt'), '');
      const env = { PATH: process.env.PATH, HOME: folder, KAIWU_HOME: folder };
      const { code, stderr } = await runKaiwu(line.split(' '), { env, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain(`state_damaged: ${folder} is open to others (mode 1777)`);
      expect(stderr).toContain(`Set KAIWU_HOME to a folder of its own, such as ${folder}/kaiwu.`);
      expect((await stat(folder)).mode & 0o7777).toBe(0o1777);
      expect(await readdir(folder)).toEqual(['of-others.txt']);
      await rm(folder, { recursive: true });
    },
  );

  it('is made private where it is empty, or a home of Kaiwu with all that is in it', async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o755);
    await ensurePrivateFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await mkdir(join(folder, 'profiles/a'), { recursive: true });
    await writeFile(join(folder, 'config.json'), '{}');
    await writeFile(join(folder, 'profiles/a/x'), '');
    for (const path of [folder, join(folder, 'profiles/a')]) {
      await chmod(path, 0o755);
      await ensurePrivateFolder(path);
      expect((await stat(path)).mode & 0o777).toBe(0o700);
    }
    await rm(folder, { recursive: true });
  });

  it('is refused in any depth outside of a home', async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, 'a/b/c'), { recursive: true });
    await writeFile(join(folder, 'config.json'), '{}');
    await writeFile(join(folder, 'a/b/c/x'), '');
    await chmod(join(folder, 'a/b/c'), 0o755);
    await expect(ensurePrivateFolder(join(folder, 'a/b/c'))).rejects.toMatchObject({ code: 'state_damaged' });
    await rm(folder, { recursive: true });
  });
});

describe.runIf(isRoot)('another user’s files', () => {
  it('root with the HOME of a user refuses before it makes anything there', async () => {
    const userHome = await makeFolder();
    await chown(userHome, STRANGER, STRANGER);
    const env = { PATH: process.env.PATH, HOME: userHome };
    const { code, stderr } = await runKaiwu(['server', 'add', 'x', 'https://x.example'], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(`${userHome} belongs to uid ${STRANGER}, but this process runs as uid 0.`);
    expect(stderr).toContain('without sudo');
    expect(await readdir(userHome)).toEqual([]);
    await rm(userHome, { recursive: true });
  });

  it.each(['config.json', '.'])(
    'a user whose %s is root’s learns which, whose, and what to do',
    async (name) => {
      const userHome = await makeFolder();
      const { home, config } = toHomePaths(join(userHome, '.kaiwu'));
      await mkdir(home, { mode: 0o700 });
      await writeFile(config, '{"version":1,"machineId":"mach_x","profiles":{}}', { mode: 0o600 });
      await chown(userHome, STRANGER, STRANGER);
      if (name !== '.') await chown(home, STRANGER, STRANGER);
      const env = { PATH: process.env.PATH, HOME: userHome };
      const { code, stderr, ms } = await runKaiwu(['server', 'list'], { env, uid: STRANGER, cwd: '/' });
      expect(code).toBe(1);
      expect(ms).toBeLessThan(20_000);
      const blocked = name === '.' ? home : config;
      expect(stderr).toContain(`${config} cannot be read`);
      expect(stderr).toContain(`${blocked} belongs to uid 0; this process runs as uid ${STRANGER}`);
      expect(stderr).toContain(`sudo chown -R ${STRANGER} "${blocked}"`);
      await rm(userHome, { recursive: true });
    },
  );
});
