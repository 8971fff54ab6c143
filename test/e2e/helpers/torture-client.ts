import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Envelope } from '../../../src/core/call.ts';
import type { Surface } from '../../../src/core/spec.ts';

/** A backend that is killed is back after half a minute at the latest; one that is not is a finding. */
const GIVE_UP_MS = 120_000;

/** Calls the backend of a home over HTTP and repeats what got no answer, with the same key, as a client in the field does. */
export interface PatientClient {
  call(actionId: string, input: object, options?: { surface?: Surface; key?: string }): Promise<Envelope>;
  /** The output of a call that must succeed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- outputs are checked by those who ask for them
  output(actionId: string, input?: object): Promise<any>;
}

export function createPatientClient(home: string): PatientClient {
  const read = (...path: string[]) =>
    JSON.parse(readFileSync(join(home, ...path), 'utf8')) as { token: string; url: string };
  const { token } = read('profiles/local/credentials.json');

  async function once(actionId: string, body: string, key: string | undefined): Promise<Envelope> {
    // Looked up each time: a backend that comes back may have another port.
    const answer = await fetch(`${read('backend/backend.json').url}/v1/actions/${actionId}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body,
    });
    return (await answer.json()) as Envelope;
  }

  async function call(
    actionId: string,
    input: object,
    { surface = 'cli', key }: { surface?: Surface; key?: string } = {},
  ): Promise<Envelope> {
    const body = JSON.stringify({ input, context: { surface, client: `${surface}:torture` } });
    let last: unknown;
    for (const until = performance.now() + GIVE_UP_MS; performance.now() < until; ) {
      try {
        const envelope = await once(actionId, body, key);
        if (envelope.status !== 'error' || !envelope.error.retryable) return envelope;
        last = JSON.stringify(envelope);
      } catch (error) {
        last = error;
      }
      await sleep(20 + Math.random() * 80);
    }
    throw new Error(`${actionId} had no answer for ${GIVE_UP_MS / 1000} s`, { cause: last });
  }

  return {
    call,
    async output(actionId, input = {}) {
      const envelope = await call(actionId, input);
      if (envelope.status === 'ok') return envelope.output;
      throw new Error(`${actionId}: ${JSON.stringify(envelope)}`);
    },
  };
}

/** Every item of a list, page by page. */
export async function readAll<T>(
  client: PatientClient,
  actionId: string,
  field: string,
  filter: object = {},
): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.output(actionId, { ...filter, limit: 200, ...(cursor ? { cursor } : {}) });
    all.push(...(page[field] as T[]));
    if (page.nextCursor === undefined) return all;
    cursor = page.nextCursor as string;
  }
}
