import { spawn } from 'node:child_process';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const KAIWU = join(import.meta.dirname, '../../bin/kaiwu');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The envelope of `--json`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
  json: any;
  ms: number;
}

export interface CliOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Text for stdin. */
  input?: string;
  /** Another program than `bin/kaiwu`, with its first arguments. */
  command?: string[];
  uid?: number;
  timeoutMs?: number;
}

/** A temporary folder of the caller's own, to be removed by it. */
export const makeFolder = async (name = 'kaiwu-test-'): Promise<string> =>
  realpath(await mkdtemp(join(tmpdir(), name)));

/** An environment that leaves this machine's own Kaiwu, keyring and proxy alone. */
export const bareEnv = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: join(home, 'user'),
  KAIWU_HOME: home,
  KAIWU_CREDENTIAL_STORE: 'file',
});

/** Runs the built command to its end. */
export function runKaiwu(args: string[], options: CliOptions = {}): Promise<CliResult> {
  const [file, ...first] = options.command ?? [process.execPath, KAIWU];
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file!, [...first, ...args], {
      env: options.env as NodeJS.ProcessEnv,
      cwd: options.cwd,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => stdout.push(part));
    child.stderr.on('data', (part: Buffer) => stderr.push(part));
    child.stdin.on('error', () => undefined).end(options.input ?? '');
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 50_000);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      const out = Buffer.concat(stdout).toString();
      resolve({
        code,
        stdout: out,
        stderr: Buffer.concat(stderr).toString(),
        json: parse(out),
        ms: performance.now() - startedAt,
      });
    });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
