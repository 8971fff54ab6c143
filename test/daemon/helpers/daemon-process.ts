import { join } from 'node:path';
import { createRuntime } from '../../../src/app/runtime.ts';
import type { Logger } from '../../../src/core/ports/host.ts';
import { type AgentDefinition, toAgentTable } from '../../../src/daemon/agents/agents.ts';
import { createControlServer } from '../../../src/daemon/control/control-server.ts';
import { createDaemon } from '../../../src/daemon/daemon.ts';
import type { DaemonOptions } from '../../../src/daemon/options.ts';
import { createProcessTable } from '../../../src/local/process-table.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { managedOptions } from './managed.ts';

/** A daemon as a process of its own, for tests that kill it. Its only argument is this, as JSON. */
export interface DaemonProcessConfig {
  home: string;
  url: string;
  token: string;
  demoAgent: string;
  demoKeeps?: boolean;
  /** It runs managed MCP servers: those of this path or text, and what it is told to. */
  mcpServersFile?: string;
  agents: AgentDefinition[];
  limits?: DaemonOptions['limits'];
}

const config = JSON.parse(process.argv[2] ?? '{}') as DaemonProcessConfig;
const say = (level: string) => (fields: Record<string, unknown>, message: string) =>
  void process.stderr.write(
    `${level} ${message} ${JSON.stringify(fields, (_, v) => (v instanceof Error ? v.message : v))}\n`,
  );
const log: Logger = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
const db = openSqlite(join(config.home, 'daemon.db'));
const daemon = createDaemon({
  db,
  link: { url: config.url, token: () => config.token, limits: { backoffMinMs: 30, backoffMaxMs: 200 } },
  machine: { machineId: 'mach_test', name: 'test', platform: 'test' },
  version: '0.0.0-test',
  runtime: createRuntime(),
  random: Math.random,
  log,
  processTable: createProcessTable(),
  agents: {
    table: [
      ...toAgentTable({
        execPath: process.execPath,
        path: config.demoAgent,
        version: '0.0.0',
        ...(config.demoKeeps === true ? { folder: join(config.home, 'demo') } : {}),
      }),
      ...config.agents,
    ],
    env: process.env,
  },
  ...(config.mcpServersFile === undefined
    ? {}
    : { managed: managedOptions(config.home, config.mcpServersFile, log) }),
  sessionLogs: join(config.home, 'logs'),
  limits: config.limits,
  onFatal: (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(6);
  },
});
const stop = async () => {
  await daemon.stop();
  await control.close();
  db.close();
  process.exit(0);
};
const control = await createControlServer({
  token: 'control',
  daemon,
  pid: process.pid,
  log,
  onStop: () => void stop(),
});
process.once('SIGTERM', () => void stop());
await daemon.start();
process.stdout.write(`${JSON.stringify({ ready: true, port: control.port })}\n`);
