import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { ActionManifest } from '../../../../src/core/spec.ts';
import { type FakeBackend, startFakeBackend, TOKEN } from './fake-backend.ts';
import { type Host, startHost } from './host.ts';
import { MANIFESTS } from './manifests.ts';
import type { EntryOptions } from './options.ts';

export interface Setup {
  /** Signed in to `backend`; `options` wins. */
  host(options?: Partial<EntryOptions>, spawn?: { command?: string[] }): Promise<Host>;
  backend(manifests?: ActionManifest[]): Promise<FakeBackend>;
  /** Command line of a server process with these options, for a client that starts it itself. */
  command(options?: Partial<EntryOptions>): Promise<{ command: string; args: string[]; optionsFile: string }>;
  /** A file's path in a folder of this test. */
  path(name: string): Promise<string>;
  onEnd(cleanup: () => unknown): void;
}

/** The server bundled as the product ships it, with a fake backend on the other side of a real socket. */
export function useSetup(): Setup {
  let bundleFolder: string;
  let cleanups: (() => unknown)[] = [];
  let current: FakeBackend | undefined;

  beforeAll(async () => {
    bundleFolder = await mkdtemp(join(tmpdir(), 'kaiwu-mcp-'));
    await build({
      entryPoints: [join(import.meta.dirname, '../fakes/serve-entry.ts')],
      outdir: bundleFolder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minify: true,
      keepNames: true,
      outExtension: { '.js': '.mjs' },
      banner: {
        js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
      },
    });
  });
  afterAll(() => rm(bundleFolder, { recursive: true, force: true }));
  afterEach(async () => {
    const undo = cleanups.toReversed();
    cleanups = [];
    current = undefined;
    for (const cleanup of undo) await cleanup();
  });

  const onEnd = (cleanup: () => unknown) => void cleanups.push(cleanup);

  async function path(name: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'kaiwu-mcp-test-'));
    onEnd(() => rm(folder, { recursive: true, force: true }));
    return join(folder, name);
  }

  async function command(options: Partial<EntryOptions> = {}) {
    const optionsFile = await path('options.json');
    const builtinFile = `${optionsFile}.builtin`;
    await writeFile(builtinFile, JSON.stringify(MANIFESTS));
    const signedIn = current === undefined ? {} : { url: current.url, token: TOKEN };
    const whole: EntryOptions = { cacheFile: `${optionsFile}.cache`, builtinFile, ...signedIn, ...options };
    await writeFile(optionsFile, JSON.stringify(whole));
    return {
      command: process.execPath,
      args: [join(bundleFolder, 'serve-entry.mjs'), optionsFile],
      optionsFile,
    };
  }

  return {
    onEnd,
    path,
    command,
    async backend(manifests = MANIFESTS) {
      const backend = await startFakeBackend(manifests);
      current = backend;
      onEnd(() => backend.stop());
      return backend;
    },
    async host(options, spawn = {}) {
      const started = await command(options);
      const host = startHost(
        [...(spawn.command ?? []), started.command, ...started.args],
        started.optionsFile,
      );
      onEnd(() => host.kill());
      return host;
    },
  };
}
