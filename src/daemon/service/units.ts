/** A program that a service manager keeps running for one user. */
export interface ServiceSpec {
  /** Letters, digits, dots and hyphens; unique a user. */
  name: string;
  description: string;
  /** Absolute program first. */
  command: readonly string[];
  /** A service manager starts programs with next to nothing; PATH is what agents are found by. */
  env: Record<string, string>;
  /** Where launchd puts what the program prints; systemd keeps a journal. */
  logFile: string;
}

/** A systemd user unit. Agents get the chance to end by themselves before the rest of the group is killed. */
export function toSystemdUnit({ description, command, env }: ServiceSpec): string {
  const environment = Object.entries(env).map(
    ([name, value]) => `Environment=${quoteSystemd(`${name}=${value}`)}`,
  );
  return [
    '[Unit]',
    `Description=${oneLine(description).replaceAll('%', '%%')}`,
    'After=network.target',
    '# Never given up: a backend may be away for days.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map((part) => quoteSystemd(part).replaceAll('$', '$$$$')).join(' ')}`,
    ...environment,
    'Restart=always',
    'RestartSec=5',
    'KillMode=mixed',
    'TimeoutStopSec=20',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** A launchd agent. */
export function toLaunchdPlist({ name, command, env, logFile }: ServiceSpec): string {
  const text = (value: string) => `<string>${escapeXml(value)}</string>`;
  const pairs = Object.entries(env).map(([key, value]) => `    <key>${escapeXml(key)}</key>${text(value)}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(name)}
  <key>ProgramArguments</key>
  <array>
${command.map((part) => `    ${text(part)}`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${pairs.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ThrottleInterval</key><integer>5</integer>
  <key>ExitTimeOut</key><integer>20</integer>
  <key>StandardOutPath</key>${text(logFile)}
  <key>StandardErrorPath</key>${text(logFile)}
</dict>
</plist>
`;
}

/** systemd expands % everywhere, and reads C escapes inside quotes. */
const quoteSystemd = (value: string): string =>
  `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%')}"`;

const oneLine = (value: string): string => value.replaceAll(/\s+/g, ' ').trim();

const escapeXml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
