// A service manager that keeps one program running, as systemd does with Restart=always.
// `systemctl.mjs FOLDER PROGRAM... -- --user VERB ...`: what it knows lies in FOLDER.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, ...rest] = process.argv.slice(2);
const at = rest.indexOf('--');
const program = rest.slice(0, at);
const verb = rest.slice(at + 1).find((word) => word !== '--user');
const active = join(folder, 'active');
const keeper = join(folder, 'keeper');
appendFileSync(join(folder, 'calls'), `${verb}\n`);

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

if (verb === 'keep') {
  writeFileSync(keeper, String(process.pid));
  let child;
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  while (existsSync(active)) {
    child = spawn(program[0], program.slice(1), { stdio: 'ignore' });
    await new Promise((resolve) => child.once('exit', resolve));
  }
} else if (verb === 'start' || verb === 'enable') {
  writeFileSync(active, '');
  spawn(process.execPath, [...process.argv.slice(1, 3), ...program, '--', 'keep'], {
    detached: true,
    stdio: 'ignore',
  }).unref();
} else if (verb === 'stop' || verb === 'disable') {
  if (existsSync(active)) {
    rmSync(active);
    const pid = Number(readFileSync(keeper, 'utf8'));
    process.kill(pid, 'SIGTERM');
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  }
} else if (verb === 'is-active' && !existsSync(active)) process.exitCode = 3;
