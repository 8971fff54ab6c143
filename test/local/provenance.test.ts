import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AGENT_SESSION_VARIABLE, UNKNOWN_PROCESS } from '../../src/core/agent-mark.ts';
import { isLocalPeer, isLoopback, type TcpConnection } from '../../src/core/loopback.ts';
import { agentSessionBehind } from '../../src/local/provenance.ts';

const children: ChildProcess[] = [];
const ends: (() => void)[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const end of ends.splice(0)) end();
});

const connectionOf = (socket: Socket): TcpConnection => ({
  server: { address: socket.localAddress!, port: socket.localPort! },
  peer: { address: socket.remoteAddress!, port: socket.remotePort! },
});

interface Peer {
  /** Where the server listens, where the peer goes, and from where. */
  listen?: string;
  to?: string;
  from?: string;
  env?: Record<string, string>;
  /** What it does once it is connected; default: it stays. */
  code?: string;
  /** Shells between the process with this environment and the one that connects, their own environment empty. */
  depth?: number;
}

/** Connects another process to a server of ours. */
async function connect({ listen = '127.0.0.1', to = listen, from, env = {}, code = '', depth = 0 }: Peer) {
  const server = createServer({ allowHalfOpen: true }).listen(0, listen);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const options = JSON.stringify({ host: to, port, localAddress: from });
  const script = `const s = require('node:net').connect(${options}, () => { s.write('x'); ${code} }); s.on('error', () => {});`;
  const command = ['node', '-e', script];
  for (let i = 0; i < depth; i++) command.unshift('env', '-i', 'sh', '-c', '"$@"; exit', 'sh');
  // The first of them keeps the environment that it was started with.
  if (depth > 0) command.unshift('sh', '-c', '"$@"; exit', 'sh');
  const [program = '', ...args] = command.map((word) => (word === 'node' ? process.execPath : word));
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  children.push(child);
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {});
  ends.push(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'data');
  return { socket, child };
}

const MARKED = { [AGENT_SESSION_VARIABLE]: 'sess_a' };

describe.runIf(process.platform === 'linux')('the process behind a connection', () => {
  it.each([
    {},
    { from: '127.0.0.2' },
    { listen: '127.0.0.3' },
    { listen: '0.0.0.0', to: '127.0.0.1' },
    { listen: '::1' },
    { listen: '::', to: '127.0.0.1' },
    { listen: '::', to: '::1' },
    { listen: '::', to: '::ffff:127.0.0.1' },
  ])('is told by its mark, a person by having none: %o', async (way) => {
    expect(agentSessionBehind(connectionOf((await connect({ ...way, env: MARKED })).socket))).toBe('sess_a');
    expect(agentSessionBehind(connectionOf((await connect(way)).socket))).toBeUndefined();
  });

  it('is told by its family, however many generations with a clean environment lie between', async () => {
    const { socket } = await connect({ env: MARKED, depth: 80 });
    expect(agentSessionBehind(connectionOf(socket))).toBe('sess_a');
  }, 60_000);

  it('that wrote and went is unknown', async () => {
    for (const code of ['process.exit()', 's.resetAndDestroy()']) {
      const { socket, child } = await connect({ code: `s.once('data', () => { ${code} });` });
      const connection = connectionOf(socket);
      const gone = new Promise<void>((resolve) => {
        if (code === 'process.exit()') child.once('exit', () => resolve());
        else socket.once('close', () => resolve());
      });
      socket.resume().write('go');
      await gone;
      expect(agentSessionBehind(connection)).toBe(UNKNOWN_PROCESS);
    }
  });

  it('of another machine is nobody of ours', () => {
    const far = { address: '192.0.2.7', port: 5000 };
    expect(agentSessionBehind({ server: { address: '192.0.2.1', port: 80 }, peer: far })).toBeUndefined();
  });
});

describe('what is of this machine', () => {
  it.each(['localhost', '127.0.0.1', '127.9.8.7', '::1', '[::1]', '::ffff:127.0.0.1', '[::FFFF:127.0.0.2]'])(
    '%s',
    (host) => expect(isLoopback(host)).toBe(true),
  );
  it.each(['', '10.0.0.1', '128.0.0.1', '127.0.0.1.example', 'localhost.example', '::', '::ffff:10.0.0.1'])(
    'not %s',
    (host) => expect(isLoopback(host)).toBe(false),
  );
  it('a peer with the very address that it reached', () => {
    const end = (address: string) => ({ address, port: 1 });
    expect(isLocalPeer({ server: end('10.0.0.5'), peer: end('::ffff:10.0.0.5') })).toBe(true);
    expect(isLocalPeer({ server: end('10.0.0.5'), peer: end('10.0.0.6') })).toBe(false);
  });
});
