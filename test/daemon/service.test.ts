import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CommandRunner,
  installService,
  type ServiceHost,
  serviceStatus,
  uninstallService,
} from '../../src/daemon/service/service.ts';
import { type ServiceSpec, toLaunchdPlist, toSystemdUnit } from '../../src/daemon/service/units.ts';
import { makeHome } from './helpers/world.ts';

const ANALYZE = 'systemd-analyze';

const SPEC: ServiceSpec = {
  name: 'kaiwu-daemon',
  description: 'Kaiwu daemon\n(100%)',
  command: ['/opt/my node/bin/node', '/opt/kaiwu/bin/kaiwu', 'daemon', 'run', '--server', 'a "b" $HOME %h'],
  env: { PATH: '/usr/bin:/opt/a b', KAIWU_HOME: '/home/x & y' },
  logFile: '/home/x/logs/daemon.log',
};

/** A service manager that answers by a table; what is not in it works and says nothing. */
function makeHost(
  platform: NodeJS.Platform,
  answers: Record<string, { code?: number; stdout?: string; stderr?: string }> = {},
) {
  const home = makeHome();
  const ran: string[] = [];
  const run: CommandRunner = async (command, args) => {
    const line = [command, ...args].join(' ');
    ran.push(line);
    const answer = Object.entries(answers).find(([start]) => line.startsWith(start))?.[1];
    return { code: 0, stdout: '', stderr: '', ...answer };
  };
  const host: ServiceHost = {
    platform,
    homeFolder: home,
    configFolder: join(home, '.config'),
    uid: 501,
    user: 'ada',
    program: 'kaiwu',
    run,
  };
  return { host, ran, home };
}

test('the systemd unit quotes what systemd would expand', () => {
  const unit = toSystemdUnit(SPEC);
  expect(unit).toContain('Description=Kaiwu daemon (100%%)\n');
  expect(unit).toContain(
    'ExecStart="/opt/my node/bin/node" "/opt/kaiwu/bin/kaiwu" "daemon" "run" "--server" "a \\"b\\" $$HOME %%h"\n',
  );
  expect(unit).toContain('Environment="PATH=/usr/bin:/opt/a b"\n');
  expect(unit).toContain('Restart=always\n');
  expect(unit).toContain('WantedBy=default.target\n');
});

test('systemd itself finds nothing wrong with the unit', ({ skip }) => {
  const file = join(makeHome(), 'kaiwu-daemon.service');
  writeFileSync(file, toSystemdUnit({ ...SPEC, command: [process.execPath, 'daemon', 'run'] }));
  const result = spawnSync(ANALYZE, ['verify', '--user', file], { encoding: 'utf8' });
  if (result.error !== undefined || /Failed to connect|not been booted/i.test(result.stderr)) skip();
  expect(result.stderr).not.toContain('kaiwu-daemon.service');
});

test('the launchd agent is XML with everything escaped', () => {
  const plist = toLaunchdPlist(SPEC);
  expect(plist).toContain('<string>a &quot;b&quot; $HOME %h</string>');
  expect(plist).toContain('<key>KAIWU_HOME</key><string>/home/x &amp; y</string>');
  expect(plist).toContain('<key>Label</key><string>kaiwu-daemon</string>');
  expect(plist.match(/<string>/g)).toHaveLength(plist.match(/<\/string>/g)?.length as number);
});

test('installed under systemd: the unit is written, loaded and started; linger decides about the boot', async () => {
  const { host, ran } = makeHost('linux', { loginctl: { stdout: 'no\n' } });
  const status = await installService(SPEC, host);
  expect(status).toMatchObject({
    manager: 'systemd',
    installed: true,
    active: true,
    survivesReboot: 'after_login',
    hint: expect.stringContaining('enable-linger ada'),
  });
  expect(readFileSync(status.file as string, 'utf8')).toBe(toSystemdUnit(SPEC));
  expect(ran).toContain('systemctl --user daemon-reload');
  expect(ran).toContain('systemctl --user enable --now kaiwu-daemon.service');
  const lingering = makeHost('linux', { loginctl: { stdout: 'yes\n' } });
  expect(await installService(SPEC, lingering.host)).toMatchObject({ survivesReboot: 'yes' });
  expect(await uninstallService(SPEC, host)).toMatchObject({
    installed: false,
    active: false,
    survivesReboot: 'no',
  });
  expect(existsSync(status.file as string)).toBe(false);
  expect(await uninstallService(SPEC, host)).toMatchObject({ installed: false });
});

test('installed under launchd', async () => {
  const { host, ran, home } = makeHost('darwin');
  const file = join(home, 'Library', 'LaunchAgents', 'kaiwu-daemon.plist');
  expect(await installService(SPEC, host)).toMatchObject({
    manager: 'launchd',
    installed: true,
    active: true,
    survivesReboot: 'after_login',
    file,
  });
  expect(ran).toContain(`launchctl bootstrap gui/501 ${file}`);
  await uninstallService(SPEC, host);
  expect(ran).toContain('launchctl bootout gui/501/kaiwu-daemon');
});

test('without a service manager the way out is named, and nothing is written', async () => {
  const cases = [
    makeHost('linux', { systemctl: { code: 1, stderr: 'Failed to connect to bus: No medium found\n' } }),
    makeHost('linux', { systemctl: { code: 127 } }),
    makeHost('freebsd'),
  ];
  const messages = [/Failed to connect to bus/, /systemctl is not installed/, /freebsd/];
  for (const [i, { host, home }] of cases.entries()) {
    await expect(installService(SPEC, host)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(messages[i] as RegExp),
      hint: expect.stringMatching(/kaiwu daemon start.*kaiwu up/),
    });
    expect(existsSync(join(home, '.config'))).toBe(false);
    const status = await serviceStatus(SPEC, host);
    expect(status).toMatchObject({ manager: 'none', survivesReboot: 'no' });
    // It may well run.
    expect(status.hint).toContain('kaiwu up');
    expect(status.hint).not.toContain('daemon start');
  }
});

test('a manager that refuses is quoted', async () => {
  const { host } = makeHost('linux', { 'systemctl --user enable': { code: 1, stderr: 'Unit is masked' } });
  await expect(installService(SPEC, host)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('Unit is masked'),
  });
});
