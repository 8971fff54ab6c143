import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root, writeRegistry } from './registry.ts';

const dist = join(root, 'dist');

/** One bundle a process, chunks shared; each process loads only what its command needs. */
const ENTRIES = ['main', 'mcp', 'backend', 'daemon', 'demo-agent'];

async function bundle(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((name) => `src/app/${name}.ts`),
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    keepNames: true,
    // Binaries inside these packages cannot be bundled; they are the only run-time dependencies.
    external: ['@photostructure/sqlite', '@napi-rs/keyring', '@napi-rs/keyring/*'],
    // CommonJS dependencies call `require` for Node's own modules.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    legalComments: 'none',
    logLevel: 'warning',
  });
}

async function writeCatalog(): Promise<void> {
  const { registry } = await import('../src/app/registry.generated.ts');
  const { createCatalog } = await import('../src/core/catalog.ts');
  await writeFile(join(dist, 'catalog.json'), JSON.stringify(createCatalog(registry).manifests));
}

await writeRegistry();
await rm(dist, { recursive: true, force: true });
await bundle();
await writeCatalog();
