import { spawn } from 'node:child_process';

/** One thing to do in the operating system's keyring. `probe` writes, reads and deletes a value of its own. */
export type KeyringStep =
  | { do: 'probe' }
  | { do: 'get'; account: string }
  | { do: 'set'; account: string; secret: string }
  | { do: 'delete'; account: string };

/** What the helper process answers: one value a step (the secret for `get`, else null), or why it stopped. */
export type KeyringAnswer = { values: (string | null)[] } | { error: string };

export interface Keyring {
  /**
   * Runs the steps in order.
   * @returns the secrets of the `get` steps, undefined where there is none
   * @throws KeyringUnavailable whenever the keyring did not do what was asked, in time
   */
  run(steps: KeyringStep[]): Promise<(string | undefined)[]>;
}

/** The keyring could not be asked. Says nothing about whether it holds a secret. */
export class KeyringUnavailable extends Error {
  override readonly name = 'KeyringUnavailable';
}

/**
 * The keyring behind a helper process. The native module connects in its constructor, on the main thread: with a secret
 * service that never answers, nothing in this process could end the wait. A helper can be killed.
 * @param command starts `serveKeyring`; secrets pass over its stdin and stdout only
 */
export function createKeyring(command: readonly string[], timeoutMs = 5000): Keyring {
  return {
    async run(steps) {
      const answer = parse(await ask(command, JSON.stringify(steps), timeoutMs));
      if ('error' in answer) throw new KeyringUnavailable(answer.error);
      return answer.values.map((value) => value ?? undefined);
    },
  };
}

function ask(command: readonly string[], request: string, timeoutMs: number): Promise<string> {
  const [file = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
    let answer = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new KeyringUnavailable(`it did not answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
    });
    child.on('error', () => reject(new KeyringUnavailable('its helper process cannot be started')));
    child.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    child.stdin.on('error', () => undefined).end(request);
  });
}

function parse(text: string): KeyringAnswer {
  try {
    return JSON.parse(text) as KeyringAnswer;
  } catch {
    return { error: 'its helper process ended without an answer' };
  }
}
