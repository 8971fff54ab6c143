import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { until } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** A call that waits for a person. */
async function withOpenCall() {
  const backend = await setup.backend();
  let aborted = false;
  backend.answer = ({ actionId }, signal) => {
    if (actionId !== 'waits') return { status: 'ok', output: {} };
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise(() => undefined);
  };
  const host = await setup.host({ misbehave: ['handle'] });
  await host.initialize();
  host.child.kill('SIGUSR2');
  await host.request('tools/list');
  host.send({ id: 'open', method: 'tools/call', params: { name: 'waits' } });
  await until('the call', () => backend.calls.length === 1);
  return { backend, host, wasAborted: () => aborted };
}

describe('the end', () => {
  test('of the input ends the process by itself, whatever still lives in it, and aborts what is open', async () => {
    const { host, wasAborted } = await withOpenCall();
    host.child.stdin?.end();
    const { code, ms } = await host.exit();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000);
    expect(host.messages().find(({ id }) => id === 'open')?.result.structuredContent.error.code).toBe(
      'canceled',
    );
    await until('the abort', wasAborted);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('comes with %s too', async (signal) => {
    const { host, wasAborted } = await withOpenCall();
    host.child.kill(signal);
    expect(await host.exit()).toMatchObject({ code: 0, signal: null });
    await until('the abort', wasAborted);
    expect(host.noise()).toEqual([]);
  });

  test('is quiet and soon when nobody reads the output', async () => {
    const { host } = await withOpenCall();
    const before = host.stderr();
    host.child.stdout?.destroy();
    host.send({ id: 'unheard', method: 'ping' });
    expect((await host.exit()).code).toBe(0);
    expect(host.stderr().slice(before.length)).not.toMatch(/EPIPE|Error/);
  });

  test('comes when the host is killed', async () => {
    await setup.backend();
    const { command, args } = await setup.command({ misbehave: ['handle'] });
    const script = `
      const child = require('node:child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: ['pipe', 'pipe', 'ignore'] });
      child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) + '\\n');
      child.stdout.once('data', () => { child.kill('SIGUSR2'); console.log(child.pid); });
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['-e', script, command, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    setup.onEnd(() => parent.kill('SIGKILL'));
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())));
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until('the end of the server', () => !isAlive(pid));
  });

  test('comes behind a shell as well, and leaves nothing', async () => {
    await setup.backend();
    const { command, args } = await setup.command({ misbehave: ['handle'] });
    const line = [command, ...args].map((word) => `'${word}'`).join(' ');
    const shell = { command: 'sh', args: ['-c', `echo $$ >&2; ${line}; true`], stderr: 'pipe' as const };
    const transport = new StdioClientTransport(shell);
    const client = new Client({ name: 'h', version: '1' });
    await client.connect(transport);
    await client.listTools();
    const children = readFileSync(`/proc/${transport.pid}/task/${transport.pid}/children`, 'utf8').trim();
    expect(children).toMatch(/^\d+$/);
    process.kill(Number(children), 'SIGUSR2');
    await client.close();
    await until('the end of the server', () => !isAlive(Number(children)));
  });
});

describe('input that is over at once', () => {
  test('is answered whole', async () => {
    const backend = await setup.backend();
    backend.answer = async ({ actionId }) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { status: 'ok', output: { actionId } };
    };
    const host = await setup.host();
    const info = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'p', version: '1' } };
    const messages = [
      { id: 1, method: 'initialize', params: info },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'session_list' } },
      { id: 4, method: 'tools/call', params: { name: 'session.title.set', arguments: { title: 'x' } } },
    ];
    // No line break at the very end.
    host.write(messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })).join('\n'));
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
    expect(new Set(host.messages().map(({ id }) => id))).toEqual(new Set([1, 2, 3, 4]));
    const results = host.messages().map(({ result }) => result.structuredContent?.actionId);
    expect(new Set(results.filter(Boolean))).toEqual(new Set(['session.title.set', 'session_list']));
    expect(host.messages()).toHaveLength(4);
    expect(host.noise()).toEqual([]);
  });

  test('is nothing at all: the process just ends', async () => {
    await setup.backend();
    const host = await setup.host();
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
    expect(host.lines).toEqual([]);
  });
});
