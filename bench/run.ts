import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../scripts/registry.ts';
import { measureManagedCall } from './managed-call.ts';
import { measureApp } from './app.ts';
import { measureSearch } from './search.ts';
import { measureSessionList } from './session-list.ts';
import { measureSessionStart } from './session-start.ts';
import { measureMemory, measureStart } from './start.ts';
import { toTable } from './stats.ts';
import { measureTokens } from './tokens.ts';

/** Measures everything against its reference in this one run and writes docs/benchmarks.md. */

const scratch = mkdtempSync(join(tmpdir(), 'kaiwu-bench-'));

async function buildReference(): Promise<string> {
  const outfile = join(scratch, 'reference.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['bench/reference-server.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    logLevel: 'warning',
  });
  return outfile;
}

try {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const reference = await buildReference();
  const rows = [
    await measureStart(reference, scratch),
    await measureMemory(reference, scratch),
    ...(await measureSessionList()),
    ...(await measureSessionStart()),
    ...(await measureManagedCall()),
    ...(await measureApp()),
    measureSearch(),
    ...measureTokens(),
  ];
  const table = toTable(rows);
  process.stdout.write(`${table}\n`);
  const file = join(root, 'docs/benchmarks.md');
  const [before = ''] = readFileSync(file, 'utf8').split('<!-- measured -->');
  const where = `Measured with Node ${process.version} on ${cpus().length} cores that other work shares; the ratio is what counts.`;
  writeFileSync(file, `${before}<!-- measured -->\n\n${where}\n\n${table}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
