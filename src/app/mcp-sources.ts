import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackendClient } from '../core/client.ts';
import type { ActionManifest, Surface } from '../core/spec.ts';
import { readTextFile, writeStateFile } from '../local/state-file.ts';
import type { BuiltinAnswers } from '../surfaces/mcp/host-requests.ts';
import type { SeenCatalog, ToolsCache } from '../surfaces/mcp/tool-list.ts';
import type { App } from './app.ts';
import { openBackend, resolveTarget, type ServerFlags, type Target } from './connection.ts';

/** Reads anew where the backend is and who is signed in, and answers the same client while neither has changed. */
export function createConnect(app: App, first: Target): () => Promise<BackendClient> {
  const [flag, value] = first.selector;
  // Who was started with a profile keeps it, whichever becomes the active one.
  const pinned: ServerFlags = flag === '--server' ? { server: value } : { serverUrl: value };
  let last: { key: string; client: BackendClient } | undefined;
  return async () => {
    const target = await resolveTarget(app, pinned, false);
    const { credentials, credentialStore } = target.paths;
    const stamps = await Promise.all([credentials, credentialStore].map(stampOf));
    const key = JSON.stringify([target.url, target.caFile, stamps]);
    if (last?.key !== key) last = { key, client: await openBackend(app, target) };
    return last.client;
  };
}

/** Differs whenever the file was written anew. */
async function stampOf(path: string): Promise<string | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info && `${info.ino} ${info.mtimeMs} ${info.size}`;
}

/** The actions of this version, written beside the bundles when they were built. */
export async function readBuiltin(): Promise<ActionManifest[]> {
  return JSON.parse(await readFile(new URL('./catalog.json', import.meta.url), 'utf8')) as ActionManifest[];
}

/** What the actions behind the lists for hosts answer without a backend, written in the same way. */
export async function readBuiltinAnswers(): Promise<BuiltinAnswers> {
  return JSON.parse(
    await readFile(new URL('./host-answers.json', import.meta.url), 'utf8'),
  ) as BuiltinAnswers;
}

/** The last catalog of a surface that was seen of a backend. */
export function createToolsCache(target: Target, surface: Surface): ToolsCache {
  const path = join(target.paths.folder, `tools-${surface}.json`);
  return {
    async read() {
      const text = await readTextFile(path, { own: true });
      return text === undefined ? undefined : (JSON.parse(text) as SeenCatalog);
    },
    write: (seen) => writeStateFile(path, seen),
  };
}
