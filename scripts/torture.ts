import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { runTorture } from '../test/e2e/helpers/torture.ts';
import { root } from './registry.ts';

/** `npm run torture`: approvals under fire. `--approvals N --kills N` choose the size. */
const { values } = parseArgs({
  options: {
    approvals: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '12' },
  },
});

function toCount(name: keyof typeof values): number {
  const count = Number(values[name]);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new Error(`--${name} must be a whole number, received ${JSON.stringify(values[name])}`);
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
// Ends through `exit`, so that what was started is ended as well.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const [approvals, kills] = [toCount('approvals'), toCount('kills')];
if (process.env.KAIWU_TEST_SKIP_BUILD !== '1') {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}
const { lost, doubled, faults, ...result } = await runTorture({ approvals, kills, say });
for (const line of lost) say(`lost: ${line}`);
for (const line of doubled) say(`doubled: ${line}`);
for (const line of faults) say(`fault: ${line}`);
say(`${JSON.stringify(result.states)}, ${result.kills} kills, ${Math.round(result.seconds)} s`);
process.exitCode = lost.length + doubled.length + faults.length === 0 ? 0 : 1;
say(`torture: ${result.approvals} approvals, ${lost.length} lost, ${doubled.length} doubled`);
