import { execFile } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import {
  type CommandRunner,
  installService,
  type ServiceHost,
  type ServiceStatus,
  serviceStatus,
  startService,
  stopService,
  uninstallService,
} from '../daemon/service/service.ts';
import type { ServiceSpec } from '../daemon/service/units.ts';
import type { App } from './app.ts';
import { optional, type Target } from './connection.ts';
import { daemonLog } from './daemon-process.ts';

/** A manager waits for what it stops, up to 20 s as its units say. */
const RUN_MS = 40_000;

/** What a service's daemon still needs of the environment that it was installed from. */
const KEPT = [
  'PATH',
  'LANG',
  'KAIWU_LOG',
  'HTTPS_PROXY',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
];

/** The daemon of a profile as a service of this user. */
export interface DaemonService {
  install(): Promise<ServiceStatus>;
  uninstall(): Promise<ServiceStatus>;
  /** Ends the daemon that its manager keeps running, without its being started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  status(): Promise<ServiceStatus>;
}

export function createDaemonService(app: App, target: Target): DaemonService {
  const spec = toSpec(app, target);
  const host = toHost(app);
  return {
    install: () => installService(spec, host),
    uninstall: () => uninstallService(spec, host),
    stop: () => stopService(spec, host),
    start: () => startService(spec, host),
    status: () => serviceStatus(spec, host),
  };
}

function toSpec(app: App, target: Target): ServiceSpec {
  // Another home is another daemon, and must not replace the service of the first.
  const home = app.env.KAIWU_HOME ? `-${app.runtime.sha256(app.paths.home).slice(0, 8)}` : '';
  const kept = KEPT.map((name) => optional(name, app.env[name] || undefined));
  return {
    name: `${app.channel}-daemon-${target.profile}${home}`,
    description: `Kaiwu daemon (${target.profile})`,
    command: [...app.command, 'daemon', 'run', ...target.selector],
    env: Object.assign({}, ...kept, app.env.KAIWU_HOME ? { KAIWU_HOME: app.paths.home } : {}) as Record<
      string,
      string
    >,
    logFile: `${daemonLog(app, target)}.out`,
  };
}

function toHost(app: App): ServiceHost {
  const homeFolder = app.env.HOME || homedir();
  return {
    platform: process.platform,
    homeFolder,
    configFolder: app.env.XDG_CONFIG_HOME || join(homeFolder, '.config'),
    uid: process.getuid?.() ?? 0,
    user: userName(app),
    program: app.channel,
    run,
  };
}

function userName(app: App): string {
  try {
    return userInfo().username;
  } catch {
    return app.env.USER ?? String(process.getuid?.() ?? '');
  }
}

const run: CommandRunner = (command, args) =>
  new Promise((resolve) => {
    execFile(command, args, { timeout: RUN_MS }, (error, stdout, stderr) => {
      const { code } = (error ?? { code: 0 }) as { code?: number | string };
      resolve({ code: code === 'ENOENT' ? 127 : typeof code === 'number' ? code : 1, stdout, stderr });
    });
  });
