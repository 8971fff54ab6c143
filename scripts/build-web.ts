import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import solid from 'vite-plugin-solid';
import { root } from './registry.ts';

const source = join(root, 'src/web');
const cache = join(root, 'node_modules/.cache/kaiwu-web');

/** Builds the app into `target`, from the last build where no source has changed since. */
export async function buildWeb(target: string): Promise<void> {
  const built = join(cache, await digestOfSources());
  const names = await readdir(cache).catch(() => []);
  if (!names.some((name) => join(cache, name) === built)) {
    const fresh = `${built}.${process.pid}`;
    await bundle(fresh);
    await rm(built, { recursive: true, force: true });
    await rename(fresh, built).catch(() => rm(fresh, { recursive: true, force: true }));
    await Promise.all(names.map((name) => rm(join(cache, name), { recursive: true, force: true })));
  }
  await mkdir(target, { recursive: true });
  await cp(built, target, { recursive: true });
}

const bundle = (outDir: string) =>
  build({
    root: source,
    configFile: false,
    logLevel: 'error',
    plugins: [solid()],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      // Nothing is inlined: the page's policy lets no `data:` in.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });

/** What the bundle is made of: the page, what it takes of core, and the packages by their versions. */
async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['src/web', 'src/core']) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && !entry.name.includes('.generated.'));
    const paths = files.map((file) => join(file.parentPath, file.name)).sort();
    for (const path of paths) hash.update(path.slice(root.length)).update(await readFile(path));
  }
  for (const file of ['package-lock.json', 'scripts/build-web.ts'])
    hash.update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 20);
}
