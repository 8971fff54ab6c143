import { spawn } from 'node:child_process';
import { KAIWU } from './kaiwu.ts';

/**
 * Runs the command on a terminal of its own (util-linux `script`) and answers its questions in turn.
 * @param answers what to type once the output matches; `\x04` ends the input, `\x03` is Ctrl-C
 */
export function runInTerminal(
  args: string[],
  options: { env: Record<string, string>; cwd: string; answers: [question: RegExp, answer: string][] },
): Promise<{ code: number | null; output: string }> {
  const quoted = [process.execPath, KAIWU, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const child = spawn('script', ['--quiet', '--return', '--command', quoted.join(' '), '/dev/null'], {
    env: { ...options.env, TERM: 'xterm', SHELL: '/bin/sh' },
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = [...options.answers];
  let output = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    const [question, answer] = answers[0] ?? [];
    if (question === undefined || !question.test(output.slice(seen))) return;
    answers.shift();
    seen = output.length;
    child.stdin.write(answer);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 50_000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output: output.replaceAll('\r\n', '\n') });
    });
  });
}
