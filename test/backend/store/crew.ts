import { afterEach, beforeEach, expect } from 'vitest';
import type { TestDatabase, World } from './databases.ts';
import { openWorld } from './databases.ts';
import { type Child, spawnChild } from './spawn-child.ts';

/** A database and the processes that work on it; both anew for each test, and none left after it. */
export interface Crew {
  world: World;
  children: Child[];
  /** Starts so many processes on one job and lets them go at one moment. */
  start(job: string, count: number): Promise<void>;
}

export function useCrew(database: TestDatabase): Crew {
  const crew: Pick<Crew, 'children'> & Partial<Pick<Crew, 'world'>> = { children: [] };
  beforeEach(async () => {
    crew.world = await openWorld(database);
    crew.children = [];
  });
  afterEach(async () => {
    await Promise.all(crew.children.map((child) => child.kill()));
    await crew.world!.end();
  });
  return Object.assign(crew as Pick<Crew, 'world' | 'children'>, {
    async start(job: string, count: number) {
      crew.children = Array.from({ length: count }, (_, i) =>
        spawnChild(job, database.name, crew.world!.location, `p${i}`),
      );
      for (const child of crew.children) expect(await child.line()).toBe('ready');
      for (const child of crew.children) child.go();
    },
  });
}
