import { isAbsolute, resolve } from 'node:path';
import { toBaseUrl } from '../../client/base-url.ts';
import { KaiwuError, toWireError } from '../../core/errors.ts';
import { assertProfileName, type Config, readConfig, updateConfig } from '../../local/config.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import type { App } from '../app.ts';
import { credentialsOf, openAuth, optional, resolveTarget, type Target } from '../connection.ts';
import { inspectDaemon } from '../daemon-control.ts';
import { flag, listOf, text, toLocalCommand } from './local-command.ts';

const NAME = text('Name of the profile.');

export function serverCommands(app: App): Command[] {
  const change = <T>(edit: (config: Config) => T) =>
    updateConfig(app.paths, () => app.runtime.newId('mach'), edit);
  const targetOf = (name: string) => resolveTarget(app, { server: name }, false);

  return [
    toLocalCommand({
      path: 'server list',
      summary: 'List the backends that this machine knows, and which one is active.',
      outputSchema: listOf('servers', ['name', 'active', 'url', 'webappUrl', 'caFile']),
      async run() {
        const config = await readConfig(app.paths);
        const servers = Object.entries(config?.profiles ?? {}).map(([name, { url, webappUrl, caFile }]) => ({
          name,
          active: name === config?.activeProfile,
          url,
          ...optional('webappUrl', webappUrl),
          ...optional('caFile', caFile),
        }));
        return { servers };
      },
    }),
    toLocalCommand({
      path: 'server add',
      summary: 'Add a backend as a profile. The first one becomes the active one.',
      fields: {
        name: NAME,
        url: text('Address of the backend; https, or http to this machine. A path prefix is kept.'),
        caFile: text('PEM file of the certificate authority of a private backend.'),
        use: flag('Make it the active one.'),
      },
      positionals: ['name', 'url'],
      required: ['name', 'url'],
      examples: [
        { title: 'A backend of a company', input: { name: 'company', url: 'https://kaiwu.example.com' } },
      ],
      errors: ['invalid_input', 'conflict', 'state_damaged'],
      async run(input, { flags }) {
        const name = input.name as string;
        assertProfileName(name);
        const url = toBaseUrl(input.url as string);
        const caFile = input.caFile as string | undefined;
        return change((config) => {
          const known = config.profiles[name];
          if (known !== undefined && known.url !== url) throw taken(name, known.url);
          const profile = {
            ...known,
            url,
            ...optional('webappUrl', flags.webappUrl && toBaseUrl(flags.webappUrl)),
            ...optional('caFile', caFile && (isAbsolute(caFile) ? caFile : resolve(caFile))),
          };
          config.profiles[name] = profile;
          if (input.use === true || config.activeProfile === undefined) config.activeProfile = name;
          return { name, active: config.activeProfile === name, ...profile };
        });
      },
    }),
    toLocalCommand({
      path: 'server use',
      summary: 'Make a profile the active one.',
      fields: { name: NAME },
      positionals: ['name'],
      required: ['name'],
      examples: [{ title: 'Talk to the company', input: { name: 'company' } }],
      errors: ['not_found', 'state_damaged'],
      async run(input) {
        const target = await targetOf(input.name as string);
        const before = (await readConfig(app.paths))?.activeProfile;
        await change((config) => {
          config.activeProfile = target.profile;
        });
        return { name: target.profile, url: target.url, ...(await daemonNote(app, before, target)) };
      },
    }),
    toLocalCommand({
      path: 'server remove',
      summary: 'Forget a profile and its sign-in on this machine.',
      fields: { name: NAME },
      positionals: ['name'],
      required: ['name'],
      examples: [{ title: 'Forget the company', input: { name: 'company' } }],
      errors: ['not_found', 'conflict', 'state_damaged'],
      async run(input) {
        const target = await targetOf(input.name as string);
        const daemon = await inspectDaemon(app, target);
        if (daemon.is === 'running' || daemon.is === 'silent') {
          const message = `The daemon of profile ${target.profile} still runs (pid ${daemon.state.pid}).`;
          throw new KaiwuError('conflict', message, {
            hint: `Stop it first: \`${app.channel} daemon stop --server ${target.profile}\`.`,
          });
        }
        await credentialsOf(app, target).clear();
        await change((config) => {
          delete config.profiles[target.profile];
          if (config.activeProfile === target.profile) delete config.activeProfile;
        });
        return { removed: target.profile, url: target.url };
      },
    }),
    toLocalCommand({
      path: 'server current',
      summary: 'Show which backend commands talk to now.',
      errors: ['not_authenticated', 'not_found', 'state_damaged'],
      async run(_, { flags }) {
        const { profile, url, webappUrl } = await resolveTarget(app, flags, true);
        return { name: profile, url, ...optional('webappUrl', webappUrl) };
      },
    }),
    toLocalCommand({
      path: 'server test',
      summary: 'Try a backend: whether it answers, and whether the sign-in still works.',
      fields: { name: text('Name of the profile; the active one if absent.') },
      positionals: ['name'],
      examples: [{ title: 'Try the active one', input: {} }],
      errors: ['backend_unreachable', 'not_found', 'state_damaged'],
      run: (input, invocation) => testServer(app, input.name as string | undefined, invocation),
    }),
  ];
}

async function testServer(
  app: App,
  name: string | undefined,
  { flags, signal }: Invocation,
): Promise<object> {
  const target = await resolveTarget(app, name === undefined ? flags : { server: name }, true);
  const credentials = await credentialsOf(app, target).read();
  const token = credentials?.url === target.url ? credentials.token : undefined;
  const auth = await openAuth(app, target, token);
  const ready = await auth.ready(signal);
  const result = { name: target.profile, url: target.url, ready, signedIn: false };
  if (token === undefined) return result;
  try {
    const { serverId, backendVersion } = await auth.whoami(signal);
    return { ...result, signedIn: true, serverId, backendVersion };
  } catch (error) {
    const { code, message } = toWireError(error);
    if (code !== 'not_authenticated') throw error;
    return { ...result, note: message };
  }
}

/** Each profile has a daemon of its own; one that runs goes on with its backend. */
async function daemonNote(app: App, before: string | undefined, target: Target): Promise<{ note?: string }> {
  const own = await inspectDaemon(app, target);
  if (own.is === 'running') return {};
  const start = `\`${app.channel} daemon start\` starts one for ${target.profile}.`;
  if (before === undefined || before === target.profile) return {};
  const other = await resolveTarget(app, { server: before }, false).catch(() => undefined);
  const report = other && (await inspectDaemon(app, other));
  if (report?.is !== 'running') return {};
  const { url, pid } = report.state;
  return { note: `The daemon of profile ${before} (pid ${pid}) is still on ${url}. ${start}` };
}

const taken = (name: string, url: string): KaiwuError =>
  new KaiwuError('conflict', `Profile ${name} exists already, for ${url}.`, {
    hint: `Choose another name, or remove it first: \`kaiwu server remove ${name}\`.`,
  });
