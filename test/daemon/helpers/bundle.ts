import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
/** Inside the project, where packages that are not bundled are found. */
const out = mkdtempSync(join(cache, 'test-daemon-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));
const made = new Map<string, Promise<string>>();

/** Bundles an entry as the product is bundled, once a test file. Answers the path of the result. */
export function bundle(entry: string): Promise<string> {
  const known = made.get(entry);
  if (known !== undefined) return known;
  const outfile = join(out, `${entry.replaceAll(/\W/g, '-')}.mjs`);
  const result = build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    external: ['@photostructure/sqlite', '@napi-rs/keyring'],
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  }).then(() => outfile);
  made.set(entry, result);
  return result;
}
