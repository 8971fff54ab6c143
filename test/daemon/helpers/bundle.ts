import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../../..');
const out = mkdtempSync(join(tmpdir(), 'kaiwu-test-bundle-'));
process.once('exit', () => rmSync(out, { recursive: true, force: true }));
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
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    plugins: [
      {
        name: 'native',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^@(photostructure\/sqlite|napi-rs\/keyring)/ }, ({ path }) => ({
            path: require.resolve(path),
            external: true,
          })),
      },
    ],
  }).then(() => outfile);
  made.set(entry, result);
  return result;
}
