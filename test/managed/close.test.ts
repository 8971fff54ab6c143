import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { managedNetworkOf } from '../../src/app/managed-network.ts';
import { createManagedServer } from '../../src/managed/server.ts';

/** A peer that is there at once, and whose ends fail the first `failures` times. */
function createPeer(failures: number) {
  const closes: string[] = [];
  const answers: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'peer', version: '1' },
    },
    'tools/list': { tools: [{ name: 'a', inputSchema: {} }] },
  };
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send(message) {
      if (!('method' in message) || !('id' in message)) return Promise.resolve();
      const result = answers[message.method];
      const body = result === undefined ? { error: { code: -32_601, message: 'unknown' } } : { result };
      queueMicrotask(() =>
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, ...body } as JSONRPCMessage),
      );
      return Promise.resolve();
    },
  };
  return {
    closes,
    open: () =>
      Promise.resolve({
        transport,
        kind: 'http' as const,
        stderrTail: () => '',
        noiseLines: () => 0,
        whyGone: () => undefined,
        close() {
          closes.push('close');
          return closes.length <= failures ? Promise.reject(new Error('it hangs')) : Promise.resolve();
        },
      }),
  };
}

test('a close that failed is tried again by the next one, and only what is left is closed', async () => {
  const peer = createPeer(1);
  let ready = () => {};
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const silent = () => {};
  const server = createManagedServer({
    server: { key: 'peer', config: { name: 'peer', url: 'http://127.0.0.1:9/mcp' } },
    deps: {
      now: () => new Date(),
      random: () => 0,
      env: {},
      log: { debug: silent, info: silent, warn: silent, error: silent },
      network: managedNetworkOf({}),
      version: '0.0.0-test',
    },
    open: peer.open,
    onChange: ({ status }) => (status === 'ready' ? ready() : undefined),
  });
  server.begin();
  await isReady;
  await expect(server.close()).rejects.toThrow('it hangs');
  await server.close();
  await server.close();
  expect(peer.closes).toHaveLength(2);
});
