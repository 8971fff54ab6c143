import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/local/sqlite.ts';
import type { Child } from './spawn-child.ts';
import { spawnChild } from './spawn-child.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kaiwu-sqlite-'));
  path = join(folder, 'a folder', 'kai wu#1?x=2%41.db');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openSqlite', () => {
  const create = (): void => {
    const db = openSqlite(path);
    db.exec('create table t (a, b)');
    for (let i = 0; i < 500; i++) db.prepare('insert into t values (?, ?)').run(i, 'x'.repeat(100));
    db.close();
  };

  test('opens a durable database that only this user reads, whatever the umask', async () => {
    const umask = process.umask(0o000);
    try {
      const db = openSqlite(path);
      db.exec('create table t (a)');
      expect(db.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
      expect(db.prepare('pragma synchronous').get()).toEqual({ synchronous: 2 });
      expect(db.prepare('pragma foreign_keys').get()).toEqual({ foreign_keys: 1 });
      for (const file of [path, `${path}-wal`, `${path}-shm`]) {
        expect([file, (await stat(file)).mode & 0o777]).toEqual([file, 0o600]);
      }
      expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
      db.close();
      db.close();
    } finally {
      process.umask(umask);
    }
    expect(existsSync(path)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('takes booleans and undefined', () => {
    const db = openSqlite(path);
    const row = db.prepare('select ? as yes, ? as no, ? as none').get(true, false, undefined);
    expect({ ...row }).toEqual({ yes: 1, no: 0, none: null });
    db.close();
  });

  test('narrows the rights of a file that others could read', async () => {
    create();
    await chmod(path, 0o644);
    openSqlite(path).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['is no database', (p: string) => writeFile(p, 'no database, only text. '.repeat(500))],
    ['is cut in half', async (p: string) => truncate(p, (await stat(p)).size / 2)],
    [
      'has damaged pages',
      async (p: string) => {
        const bytes = await readFile(p);
        bytes.fill(0xa5, 8192, 16_384);
        await writeFile(p, bytes);
      },
    ],
  ])('a file that %s is reported with its path and kept', async (_, damage) => {
    create();
    await damage(path);
    const before = await readFile(path);
    expect(() => openSqlite(path)).toThrow(
      expect.objectContaining({ code: 'state_damaged', message: expect.stringContaining(path) }),
    );
    expect(await readFile(path)).toEqual(before);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('a database that was emptied or lost is not begun anew over its own log', async () => {
    const db = openSqlite(path);
    db.exec('create table t (a); insert into t values (1)');
    const log = await readFile(`${path}-wal`);
    db.close();
    await writeFile(`${path}-wal`, log);
    const damaged = expect.objectContaining({ code: 'state_damaged' });
    await truncate(path, 0);
    expect(() => openSqlite(path)).toThrow(damaged);
    await rm(path);
    expect(() => openSqlite(path)).toThrow(damaged);
    expect(existsSync(path)).toBe(false);
    expect(await readFile(`${path}-wal`)).toEqual(log);
  });

  test('an empty file becomes a database: it is what a start leaves that was cut off', async () => {
    create();
    await truncate(path, 0);
    openSqlite(path).close();
    expect((await stat(path)).size).toBeGreaterThan(0);
  });

  test('a folder, or a path through a file, is an error that names it', async () => {
    create();
    for (const bad of [folder, join(path, 'below.db')]) {
      expect(() => openSqlite(bad)).toThrow(
        expect.objectContaining({ code: 'state_damaged', message: expect.stringContaining(bad) }),
      );
    }
  });
});

describe('an exclusive file', () => {
  let children: Child[];
  beforeEach(() => {
    children = [];
    path = join(folder, 'lock.db');
  });
  afterEach(() => Promise.all(children.map((child) => child.kill())));

  const start = async (count: number): Promise<string[]> => {
    children = Array.from({ length: count }, () => spawnChild('lock', 'sqlite', path));
    for (const child of children) expect(await child.line()).toBe('ready');
    for (const child of children) child.go();
    return Promise.all(children.map((child) => child.line()));
  };

  test('keeps every other process out until its holder is killed', async () => {
    expect(await start(1)).toEqual(['held']);
    const conflict = expect.objectContaining({ code: 'conflict', message: expect.stringContaining(path) });
    expect(() => openSqlite(path, { exclusive: true })).toThrow(conflict);
    expect(() => openSqlite(path, { busyTimeoutMs: 100 })).toThrow(conflict);
    await children[0]?.kill();
    const mine = openSqlite(path, { exclusive: true });
    mine.exec('create table if not exists t (a)');
    mine.prepare('insert into t values (?) returning a').all(1);
    expect(() => openSqlite(path, { exclusive: true, busyTimeoutMs: 0 })).toThrow(conflict);
    mine.close();
    openSqlite(path, { exclusive: true, busyTimeoutMs: 0 }).close();
  });

  test('goes to exactly one of those that ask at one moment', async () => {
    const answers = await start(4);
    expect(answers.sort()).toEqual(['conflict', 'conflict', 'conflict', 'held']);
  });
});
