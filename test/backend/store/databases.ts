import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import type { BackendStore } from '../../../src/backend/store/store.ts';
import type { Runtime } from '../../../src/core/ports/stores.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';

/** A kind of database that the store runs on. Every suite runs on each. */
export interface TestDatabase {
  name: string;
  /** Makes an empty one and answers where it is. */
  create(): Promise<string>;
  /** Opens it; more than one store, in more than one process, can be open at once. */
  open(location: string, runtime: Runtime): Promise<BackendStore>;
  remove(location: string): Promise<void>;
  /** Runs SQL behind the store's back. */
  run(location: string, sql: string): Promise<void>;
}

export const DATABASES: TestDatabase[] = [
  {
    name: 'sqlite',
    create: async () => join(await mkdtemp(join(tmpdir(), 'kaiwu-store-')), 'kaiwu.db'),
    open: async (location, runtime) => createSqliteStore(openSqlite(location), runtime),
    remove: (location) => rm(join(location, '..'), { recursive: true, force: true }),
    run: async (location, sql) => {
      const handle = openSqlite(location);
      handle.exec(sql);
      handle.close();
    },
  },
];

/** A clock that stands still until it is told to go on. */
export interface TestRuntime extends Runtime {
  /** Sets the wall clock, as a person or a time server does. */
  setClock(milliseconds: number): void;
  advance(milliseconds: number): void;
}

export function createTestRuntime(start = Date.parse('2026-11-30T12:00:00.000Z')): TestRuntime {
  let time = start;
  let set = 0;
  return {
    now: () => new Date(time + set),
    monotonicMs: () => time,
    bootMs: () => time,
    setClock: (milliseconds) => {
      set += milliseconds;
    },
    newId: (prefix) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
    newUuid: randomUUID,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    advance: (milliseconds) => {
      time += milliseconds;
    },
  };
}

/** What a suite works with, made anew for each test. */
export interface World {
  store: BackendStore;
  runtime: TestRuntime;
  location: string;
  /** Closes the store and opens another one on the same database. */
  reopen(): Promise<BackendStore>;
  /** The same, with some SQL run in between. */
  tamper(sql: string): Promise<BackendStore>;
  end(): Promise<void>;
}

export async function openWorld(database: TestDatabase): Promise<World> {
  const location = await database.create();
  const runtime = createTestRuntime();
  const world: World = {
    store: await database.open(location, runtime),
    runtime,
    location,
    reopen: async () => {
      await world.store.close();
      world.store = await database.open(world.location, runtime);
      return world.store;
    },
    tamper: async (sql) => {
      await world.store.close();
      await database.run(world.location, sql);
      world.store = await database.open(world.location, runtime);
      return world.store;
    },
    end: async () => {
      await world.store.close();
      await database.remove(world.location);
    },
  };
  return world;
}
