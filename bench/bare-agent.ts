import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

/** An agent as it is started without Kaiwu. */
export interface BareAgent {
  command: string;
  args: string[];
  env: Record<string, string>;
  directory: string;
}

/** Milliseconds from nothing to an open conversation, by the protocol's own client. */
export async function timeBareStart({ command, args, env, directory }: BareAgent): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    env,
    cwd: directory,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const wire = ndJsonStream(
      Writable.toWeb(child.stdin),
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const { agent } = client({ name: 'bench' }).connect(wire);
    await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    await agent.request('session/new', { cwd: directory, mcpServers: [] });
    return performance.now() - startedAt;
  } finally {
    await end(child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await gone;
}
