import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Envelope } from '../../../src/core/call.ts';
import type { World } from '../../helpers/world.ts';

/** The backend over HTTP, as the person who is signed in. */
export interface Api {
  url: string;
  token: string;
  call(actionId: string, input?: unknown, surface?: string): Promise<Envelope>;
  /** The output of a call that must succeed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- outputs are checked by the tests that use them
  output(actionId: string, input?: unknown): Promise<any>;
  post(path: string, body: unknown): Promise<Record<string, string>>;
}

export function createApi(world: World): Api {
  const file = join(world.home, 'profiles/local/credentials.json');
  const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
  const send = (path: string, body: unknown) =>
    fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const call = async (actionId: string, input: unknown = {}, surface = 'cli') => {
    const answer = await send(`/v1/actions/${actionId}`, { input, context: { surface, client: 'http' } });
    return (await answer.json()) as Envelope;
  };
  return {
    url: world.url,
    token,
    call,
    async output(actionId, input) {
      const envelope = await call(actionId, input);
      if (envelope.status === 'ok') return envelope.output;
      throw new Error(`${actionId}: ${JSON.stringify(envelope)}`);
    },
    async post(path, body) {
      return (await (await send(path, body)).json()) as Record<string, string>;
    },
  };
}
