import type { Runtime } from './ports/stores.ts';

/**
 * The time that deadlines are kept by: the wall clock as it stood when this process began, and from there on the machine's own
 * count, sleep included. Whoever sets the clock by a day neither ends what waits nor keeps it alive. A restart takes the wall
 * clock anew.
 */
export function createSteadyNow({ now, bootMs }: Pick<Runtime, 'now' | 'bootMs'>): () => Date {
  const wall = now().getTime();
  const boot = bootMs();
  return () => new Date(wall + bootMs() - boot);
}
