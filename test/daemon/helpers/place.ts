import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { DaemonMethods } from '../../../src/core/link.ts';
import { bundle } from './bundle.ts';
import type { DaemonProcessConfig } from './daemon-process.ts';
import { createFakeBackend, type FakeBackend, TOKEN } from './fake-backend.ts';
import { fakeAgent, makeHome } from './world.ts';

export interface DaemonProcess {
  child: ChildProcess;
  port: number;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** A home in which daemons run as processes that can be killed, and the backend that they link to. */
export interface Place {
  home: string;
  backend: FakeBackend;
  run(): Promise<DaemonProcess>;
  workspace: string;
  start(
    sessionId: string,
    agentId?: string,
    more?: Partial<DaemonMethods['session.start']['params']>,
  ): Promise<unknown>;
  deliver(
    sessionId: string,
    messageId: string,
    text: string,
    more?: Partial<DaemonMethods['session.deliver']['params']>,
  ): Promise<unknown>;
}

export async function makePlace(more: Partial<DaemonProcessConfig> = {}): Promise<Place> {
  const home = makeHome();
  const workspace = join(home, 'workspace');
  mkdirSync(workspace);
  const backend = await createFakeBackend();
  onTestFinished(() => backend.stop());
  const [program, demoAgent] = await Promise.all([
    bundle('test/daemon/helpers/daemon-process.ts'),
    bundle('src/app/demo-agent.ts'),
  ]);
  const config: DaemonProcessConfig = {
    home,
    url: backend.url,
    token: TOKEN,
    demoAgent,
    agents: [fakeAgent('stubborn'), fakeAgent('deaf-to-cancel')],
    ...more,
  };
  return {
    home,
    backend,
    async run() {
      const child = spawn(process.execPath, [program, JSON.stringify(config)], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
      onTestFinished(async () => {
        child.kill('SIGKILL');
        await exited;
      });
      const port = await new Promise<number>((resolve, reject) => {
        createInterface({ input: child.stdout }).once('line', (line) =>
          resolve((JSON.parse(line) as { port: number }).port),
        );
        void exited.then((code) => reject(new Error(`the daemon exited with ${code}: ${said}`)));
      });
      const before = backend.hellos.length;
      await backend.until(() => backend.hellos.length > before || backend.hellos.length > 0, 'a hello');
      await backend.linked();
      return {
        child,
        port,
        kill: (signal) => {
          child.kill(signal);
          return exited;
        },
      };
    },
    workspace,
    start: (sessionId, agentId = 'demo', more = {}) =>
      backend.request('session.start', {
        sessionId,
        agentId,
        directory: workspace,
        permissionMode: 'default',
        ...more,
      }),
    deliver: (sessionId, messageId, text, more = {}) =>
      backend.request('session.deliver', { sessionId, messageId, text, ...more }),
  };
}

/** What a daemon says of itself on its control port. */
export const status = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/status`, {
    headers: { authorization: 'Bearer control' },
  });
  return (await response.json()) as {
    sessions: { sessionId: string; pid: number; status: string }[];
    outbox: { events: number };
  };
};
