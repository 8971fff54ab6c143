import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../fakes/home-server.mjs');

/** What the fake server noted of itself and of what it was sent. */
export interface Noted {
  pid: number;
  started?: boolean;
  id?: string | number;
  method?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever it was sent
  params?: any;
}

/** A fake server over stdio, whose log tells what reached it. See `fakes/home-server.mjs`. */
export interface HomeServer {
  /** As in a configuration. */
  config: { command: string; args: string[]; env: Record<string, string> };
  log(): Noted[];
  /** Calls that reached it, by the names of their tools. */
  calls(): string[];
  pids(): number[];
}

export function homeServer(log: string, env: Record<string, string> = {}): HomeServer {
  const read = (): Noted[] => {
    try {
      return readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Noted);
    } catch {
      return [];
    }
  };
  return {
    config: { command: process.execPath, args: [PROGRAM], env: { LOG: log, ...env } },
    log: read,
    calls: () =>
      read()
        .filter(({ method }) => method === 'tools/call')
        .map(({ params }) => String(params.name)),
    pids: () => [...new Set(read().map(({ pid }) => pid))],
  };
}
