import { spawnSync } from 'node:child_process';
import { root, writeRegistry } from './registry.ts';

/** Every check, the same here and in CI. All run, so that one round shows everything. */
const CHECKS: [name: string, command: string, ...args: string[]][] = [
  ['types', 'tsc', '--noEmit'],
  ['types of the app', 'tsc', '--noEmit', '--project', 'src/web'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'biome', 'format', '.'],
  ['dead code', 'knip', '--no-progress'],
  ['generated docs', 'tsx', 'scripts/docs.ts', '--check'],
  [
    'architecture',
    'vitest',
    'run',
    'test/architecture',
    '--reporter=dot',
    '--config',
    'scripts/vitest.check.config.ts',
  ],
];

await writeRegistry();
const failed = CHECKS.filter(([name, command, ...args]) => {
  process.stdout.write(`== ${name}\n`);
  return spawnSync('npx', ['--no-install', command, ...args], { cwd: root, stdio: 'inherit' }).status !== 0;
});
process.stdout.write(
  failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.map(([name]) => name).join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
