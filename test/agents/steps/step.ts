import { join } from 'node:path';
import type { Seat, Told } from '../seat.ts';

/** One thing that has to hold for an agent. */
export interface Step {
  step: string;
  /** For people: what it shows. */
  shows: string;
  /** Nothing after it makes sense where it fails. */
  vital?: true;
  run(seat: Seat): Promise<void>;
}

/** Fails a step in words that its reader can use. */
export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'nothing';

export const inWorkspace = (seat: Seat, name: string): string => join(seat.workspace, name);

export function expectReply({ status, reason, reply }: Told, words = ''): void {
  expect(status === 'completed', `the turn ended ${status}: ${shown(reason)}`);
  expect(reply?.includes(words) === true, `the reply is ${shown(reply)}`);
}

/** What the model was given since the request number `from`. */
export const heardSince = (seat: Seat, from: number): string =>
  seat.model.seen
    .slice(from)
    .flatMap(({ entries }) => entries.map(({ text }) => text))
    .join('\n');
