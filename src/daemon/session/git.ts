import { spawn } from 'node:child_process';
import { KaiwuError } from '../../core/errors.ts';
import { signalGroup } from '../../process/group.ts';
import { type Environment, toChildEnvironment } from '../../process/environment.ts';

/** Most characters of git's answer that are looked at. */
const MAX_OUTPUT = 1024 * 1024;
const MAX_LINE = 500;

/**
 * Programs of the repository are not run: hooks and file system monitors act in the name of who calls git, and a daemon
 * did not decide to. Filters are, because a checkout without them is not the same files.
 */
const SETTINGS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'gc.auto=0'];

export interface GitResult {
  code: number;
  stdout: string;
  /** The last line that git wrote about what went wrong. */
  lastLine: string;
}

/** Runs git in a directory, without a shell and without questions. */
export interface Git {
  (directory: string, ...args: string[]): Promise<GitResult>;
}

/** @param limitMs after which a command is ended and counts as failed */
export function createGit(env: Environment, limitMs: number): Git {
  // What an agent sees, and so none of the variables by which git is pointed at another repository.
  const environment = {
    ...toChildEnvironment(env, { inherit: [], env: {} }),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    LC_ALL: 'C',
  };
  return (directory, ...args) =>
    new Promise((resolve, reject) => {
      const child = spawn('git', [...SETTINGS, ...args], {
        cwd: directory,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        // Away from the terminal, where a helper of git could ask for a password, and with its helpers in one group.
        detached: true,
      });
      let late = false;
      const limit = setTimeout(() => {
        late = true;
        if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      }, limitMs);
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout = (stdout + text).slice(0, MAX_OUTPUT);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-MAX_OUTPUT);
      });
      child.once('error', (cause) => {
        clearTimeout(limit);
        reject(
          new KaiwuError('session_directory_unavailable', `git cannot be run here: ${cause.message}`, {
            hint: 'Install git on the machine, or start the session without a worktree.',
            details: { directory, reason: 'no_git' },
            cause,
          }),
        );
      });
      child.once('close', (code) => {
        clearTimeout(limit);
        const last = stderr.trim().split('\n').at(-1) ?? '';
        const lastLine = late
          ? `git was ended after ${limitMs / 1000} s`
          : last.replace(/^(fatal|error): /, '');
        resolve({ code: code ?? 1, stdout: stdout.trimEnd(), lastLine: lastLine.slice(0, MAX_LINE) });
      });
    });
}
