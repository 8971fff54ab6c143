import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Tests drive the built product, so it is built once before them. */
export default function setup(): void {
  if (process.env.KAIWU_TEST_SKIP_BUILD === '1') return;
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
  });
}
