import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { buildWeb } from './build-web.ts';
import { root, writeRegistry } from './registry.ts';

const dist = join(root, 'dist');
const fresh = join(root, `dist.${process.pid}`);

const shared: BuildOptions = {
  absWorkingDir: root,
  outdir: fresh,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  // Binaries inside these packages cannot be bundled; they are the only run-time dependencies.
  external: ['@photostructure/sqlite', '@napi-rs/keyring', '@napi-rs/keyring/*'],
  // CommonJS dependencies call `require` for Node's own modules.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  legalComments: 'none',
  logLevel: 'warning',
};

/** `mcp serve` is a bundle of its own, reached from the others as a file beside them. */
const mcpApart: Plugin = {
  name: 'mcp-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/mcp\.ts$/ }, () => ({ path: './mcp.js', external: true }));
  },
};

const entry = (name: string): string => `src/app/${name}.ts`;

/** Bundles that share chunks, so that each process loads only what its command needs. */
const bundleProcesses = () =>
  build({
    ...shared,
    splitting: true,
    plugins: [mcpApart],
    entryPoints: ['main', 'backend', 'daemon', 'demo-agent'].map(entry),
  });

/** One file, since every host waits for it to start: reading a dozen chunks took a third of that time. */
const bundleMcp = () => build({ ...shared, entryPoints: [entry('mcp')] });

/** Small, since each agent without MCP over HTTP starts one. */
const bundleBridge = () => build({ ...shared, banner: {}, entryPoints: [entry('session-tools-bridge')] });

async function writeCatalog(): Promise<void> {
  const { registry } = await import('../src/app/registry.generated.ts');
  const { createCatalog } = await import('../src/core/catalog.ts');
  await writeFile(join(fresh, 'catalog.json'), JSON.stringify(createCatalog(registry).manifests));
}

/** What hosts are told while the backend is out of reach: the answers of the lists, without the account's own. */
async function writeHostAnswers(): Promise<void> {
  const { toHostAnswers } = await import('./host-answers.ts');
  await writeFile(join(fresh, 'host-answers.json'), JSON.stringify(await toHostAnswers()));
}

await writeRegistry();
await rm(fresh, { recursive: true, force: true });
await Promise.all([bundleProcesses(), bundleMcp(), bundleBridge(), buildWeb(join(fresh, 'web'))]);
await writeCatalog();
await writeHostAnswers();
// Swapped at once, so that whoever starts a process meanwhile finds the old or the new one.
await rm(dist, { recursive: true, force: true });
await rename(fresh, dist);
