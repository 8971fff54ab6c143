import { mkdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KaiwuError } from '../../core/errors.ts';
import { type ServiceSpec, toLaunchdPlist, toSystemdUnit } from './units.ts';

/** Runs a program to its end. `code` is 127 where there is no such program. */
export type CommandRunner = (
  command: string,
  args: string[],
) => Promise<{ code: number; stdout: string; stderr: string }>;

/** The machine and user that a service is for. */
export interface ServiceHost {
  platform: NodeJS.Platform;
  /** Of the user. */
  homeFolder: string;
  /** XDG_CONFIG_HOME, or `.config` in the home. */
  configFolder: string;
  uid: number;
  user: string;
  /** Name of our command, for hints. */
  program: string;
  run: CommandRunner;
}

export interface ServiceStatus {
  manager: 'systemd' | 'launchd' | 'none';
  installed: boolean;
  active: boolean;
  /** Whether it comes back by itself. `after_login`: only once the user has signed in to the machine. */
  survivesReboot: 'yes' | 'after_login' | 'no';
  /** File that describes it to its manager. */
  file?: string;
  /** What to do to make it better. */
  hint?: string;
}

interface Manager {
  name: 'systemd' | 'launchd';
  file: string;
  text: string;
  load: [command: string, ...args: string[]][];
  unload: [command: string, ...args: string[]][];
  /** Ends it until it is started again, or until the next boot or login. */
  stop: [command: string, ...args: string[]];
  start: [command: string, ...args: string[]];
  isActive: [command: string, ...args: string[]];
  survivesReboot(): Promise<Pick<ServiceStatus, 'survivesReboot' | 'hint'>>;
}

/** Makes the daemon a service of this user, replacing an older one. @throws unsupported | internal */
export async function installService(spec: ServiceSpec, host: ServiceHost): Promise<ServiceStatus> {
  const manager = await requireManager(spec, host);
  await mkdir(dirname(manager.file), { recursive: true });
  await writeFile(manager.file, manager.text, { mode: 0o600 });
  await runAll(manager.unload, host, false);
  await runAll(manager.load, host, true);
  return serviceStatus(spec, host);
}

/** Ends the service and forgets it. Idempotent. @throws unsupported | internal */
export async function uninstallService(spec: ServiceSpec, host: ServiceHost): Promise<ServiceStatus> {
  const manager = await requireManager(spec, host);
  await runAll(manager.unload, host, false);
  await rm(manager.file, { force: true });
  if (manager.name === 'systemd') await runAll([['systemctl', '--user', 'daemon-reload']], host, true);
  return serviceStatus(spec, host);
}

/** Ends what the service runs, in a way that its manager does not take for a crash. It stays installed. @throws unsupported | internal */
export async function stopService(spec: ServiceSpec, host: ServiceHost): Promise<void> {
  const manager = await requireManager(spec, host);
  await runAll([manager.stop], host, true);
}

/** Starts an installed service that was stopped. @throws unsupported | internal */
export async function startService(spec: ServiceSpec, host: ServiceHost): Promise<void> {
  const manager = await requireManager(spec, host);
  await runAll([manager.start], host, true);
}

export async function serviceStatus(spec: ServiceSpec, host: ServiceHost): Promise<ServiceStatus> {
  const { manager } = await findManager(spec, host);
  if (manager === undefined) {
    const hint = `No service manager of this user starts it after a reboot: let a supervisor of your own run \`${host.program} up\`.`;
    return { manager: 'none', installed: false, active: false, survivesReboot: 'no', hint };
  }
  const { name, file } = manager;
  const installed = existsSync(file);
  const [command, ...args] = manager.isActive;
  const active = installed && (await host.run(command, args)).code === 0;
  const reboot = installed
    ? await manager.survivesReboot()
    : { survivesReboot: 'no' as const, hint: `Install it: \`${host.program} daemon install\`.` };
  return { manager: name, installed, active, file, ...reboot };
}

async function requireManager(spec: ServiceSpec, host: ServiceHost): Promise<Manager> {
  const { manager, why } = await findManager(spec, host);
  if (manager !== undefined) return manager;
  throw new KaiwuError('unsupported', `There is no service manager for this user: ${why}.`, {
    hint: otherWays(host),
  });
}

const otherWays = ({ program }: ServiceHost): string =>
  `Run \`${program} daemon start\`, or let a supervisor of your own run \`${program} up\`.`;

/** The manager of this user, asked whether it answers: containers and plain logins often have none. */
async function findManager(
  spec: ServiceSpec,
  host: ServiceHost,
): Promise<{ manager: Manager; why?: undefined } | { manager?: undefined; why: string }> {
  const candidates: Partial<Record<NodeJS.Platform, { manager: Manager; probe: [string, ...string[]] }>> = {
    linux: { manager: systemd(spec, host), probe: ['systemctl', '--user', 'show-environment'] },
    darwin: { manager: launchd(spec, host), probe: ['launchctl', 'print', `gui/${host.uid}`] },
  };
  const candidate = candidates[host.platform];
  if (candidate === undefined) return { why: `services on ${host.platform} are not known to Kaiwu` };
  const [command, ...args] = candidate.probe;
  const { code, stderr } = await host.run(command, args);
  if (code === 0) return { manager: candidate.manager };
  if (code === 127) return { why: `${command} is not installed` };
  return { why: `${command} says: ${stderr.trim().split('\n')[0] || `exit code ${code}`}` };
}

function systemd(spec: ServiceSpec, host: ServiceHost): Manager {
  const unit = `${spec.name}.service`;
  const systemctl = (...args: string[]): [string, ...string[]] => ['systemctl', '--user', ...args];
  return {
    name: 'systemd',
    file: join(host.configFolder, 'systemd', 'user', unit),
    text: toSystemdUnit(spec),
    load: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    unload: [systemctl('disable', '--now', unit)],
    stop: systemctl('stop', unit),
    start: systemctl('start', unit),
    isActive: systemctl('is-active', unit),
    async survivesReboot() {
      const enabled = await host.run('systemctl', ['--user', 'is-enabled', unit]);
      if (enabled.code !== 0)
        return { survivesReboot: 'no', hint: `Enable it: \`systemctl --user enable ${unit}\`.` };
      const linger = await host.run('loginctl', ['show-user', host.user, '--property=Linger', '--value']);
      if (linger.stdout.trim() === 'yes') return { survivesReboot: 'yes' };
      const hint = `It starts when ${host.user} signs in to the machine. To start it at boot: \`loginctl enable-linger ${host.user}\`.`;
      return { survivesReboot: 'after_login', hint };
    },
  };
}

function launchd(spec: ServiceSpec, host: ServiceHost): Manager {
  const domain = `gui/${host.uid}`;
  const target = `${domain}/${spec.name}`;
  const file = join(host.homeFolder, 'Library', 'LaunchAgents', `${spec.name}.plist`);
  return {
    name: 'launchd',
    file,
    text: toLaunchdPlist(spec),
    load: [
      ['launchctl', 'enable', target],
      ['launchctl', 'bootstrap', domain, file],
    ],
    unload: [['launchctl', 'bootout', target]],
    // With KeepAlive, `launchctl stop` is a restart.
    stop: ['launchctl', 'bootout', target],
    start: ['launchctl', 'bootstrap', domain, file],
    isActive: ['launchctl', 'print', target],
    survivesReboot: async () => ({ survivesReboot: 'after_login' }),
  };
}

/** @throws internal for the first one that fails, where that matters */
async function runAll(commands: Manager['load'], host: ServiceHost, mustWork: boolean): Promise<void> {
  for (const [command, ...args] of commands) {
    const { code, stderr } = await host.run(command, args);
    if (code !== 0 && mustWork) {
      throw new KaiwuError(
        'internal',
        `\`${[command, ...args].join(' ')}\` failed with exit code ${code}: ${stderr.trim()}`,
        {
          hint: otherWays(host),
        },
      );
    }
  }
}
