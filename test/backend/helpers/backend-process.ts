import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Json } from './json.ts';

/** A backend in a process of its own, to be killed. */
export interface BackendProcess {
  url: string;
  signIn(): Promise<string>;
  /** The output of an action that must succeed. */
  ok(token: string, actionId: string, input: object): Promise<Json>;
  kill(): Promise<void>;
}

/** Starts one on a database. It ends with the test's process. */
export async function startBackend(database: string): Promise<BackendProcess> {
  const script = fileURLToPath(new URL('backend-child.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, database], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the backend ended with ${code}`))),
  ]);
  const { url, secret } = JSON.parse(line as string) as { url: string; secret: string };
  const call = async (path: string, body: unknown, token?: string) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return (await answer.json()) as Json;
  };
  return {
    url,
    signIn: async () => (await call('/v1/auth/bootstrap', { secret, deviceName: 'test' })).token as string,
    async ok(token, actionId, input) {
      const envelope = await call(`/v1/actions/${actionId}`, { input, context: { surface: 'cli' } }, token);
      if (envelope.status !== 'ok') throw new Error(`${actionId}: ${JSON.stringify(envelope)}`);
      return envelope.output;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
