import { setTimeout as sleep } from 'node:timers/promises';
import { KaiwuError, toWireError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { updateConfig } from '../local/config.ts';
import { acquireProcessLock, type ProcessLock } from '../local/file-lock.ts';
import type { UpState } from '../local/process-state.ts';
import { removeStateFile, writeStateFile } from '../local/state-file.ts';
import { shellQuote } from '../surfaces/cli/shell-quote.ts';
import { ensureAccountKey } from './account-key.ts';
import type { App } from './app.ts';
import { makeAppLink } from './app-link.ts';
import { readBootstrap, signInWithSecret } from './bootstrap.ts';
import { credentialsOf, openAuth, resolveTarget, type Target } from './connection.ts';
import { inspectDaemon } from './daemon-control.ts';
import { fileLimitOf, filesTotalOf } from './file-limit.ts';
import { inspectUp, LOCAL_PROFILE } from './local-profile.ts';
import { toHostConfig } from './mcp-config.ts';
import { openLink } from './open-link.ts';
import { programName } from './program-name.ts';
import { withGivenServers } from './given-servers.ts';
import { type Supervised, supervise } from './supervise.ts';

/** Longest time, milliseconds, that the children get to end; then they are killed. */
const GRACE_MS = 10_000;
/** How long a second start waits for the first one to become ready. */
const PEER_START_MS = 30_000;

export interface UpOptions {
  port?: number;
  /** Open the app in a browser. */
  open?: boolean;
  /** Path or text of managed MCP servers of this machine. */
  mcpServers?: string;
  signal: AbortSignal;
  /** One text to stdout. */
  say(text: string): Promise<void>;
  /** One line to stderr. */
  warn(line: string): void;
}

/**
 * Runs backend and daemon in the foreground until `signal` aborts. Where they run already, says so instead.
 * @returns what to tell at the end
 */
export async function runUp(app: App, options: UpOptions): Promise<{ stopped: boolean; url?: string }> {
  fileLimitOf(app.env);
  filesTotalOf(app.env);
  const lock = await acquireProcessLock(app.paths.up.lock).catch((error: unknown) => {
    if (error instanceof KaiwuError && error.code === 'conflict') return undefined;
    throw error;
  });
  if (lock === undefined) return tellRunning(app, options);
  return superviseBoth(app, options, lock);
}

async function superviseBoth(app: App, options: UpOptions, lock: ProcessLock): Promise<{ stopped: boolean }> {
  const children: Supervised[] = [];
  const child = (name: string, args: string[], onReady: (url: string) => Promise<void>) => {
    const made = supervise({
      name,
      command: [...app.command, ...args],
      env: name === 'daemon' ? withGivenServers(app.env, options.mcpServers) : app.env,
      onReady: ({ url }) => onReady(url ?? ''),
      onExit: options.warn,
      signal: options.signal,
    });
    children.push(made);
    return orAborted(made.started, options.signal);
  };
  let url = '';
  try {
    const port = options.port === undefined ? [] : ['--port', String(options.port)];
    await child('backend', ['backend', 'start', ...port], async (address) => {
      url = address;
      await makeKey(app, await signIn(app, address), options);
    });
    const keepsDaemon = !(await hasDaemon(app, options));
    if (keepsDaemon) {
      await child('daemon', ['daemon', 'run', '--server', LOCAL_PROFILE], async () => undefined);
    }
    const { pid } = process;
    const startTime = app.processes.startTime(pid) ?? '';
    const state: UpState = { pid, startTime, version: app.version, url, keepsDaemon };
    await writeStateFile(app.paths.up.state, state);
    const { text } = await linkToApp(app, options.open === true);
    await options.say(welcome(app, url, text));
    await orAborted(new Promise<never>(() => undefined), options.signal);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    // The daemon first: it hands its last events to a backend that still listens.
    const until = performance.now() + GRACE_MS;
    for (const running of children.toReversed())
      await running.stop(Math.max(1000, until - performance.now()));
    await removeStateFile(app.paths.up.state);
    lock.release();
  }
  return { stopped: true };
}

/** Settles with the work, or fails when the signal aborts first. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(new KaiwuError('canceled', 'Told to stop.'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** A daemon of this profile that was started apart (as a service) does the work; a second one would be refused. */
async function hasDaemon(app: App, { warn, mcpServers }: UpOptions): Promise<boolean> {
  const target = await resolveTarget(app, { server: LOCAL_PROFILE }, false);
  const report = await inspectDaemon(app, target);
  if (report.is !== 'running') return false;
  warn(
    `The daemon of profile ${LOCAL_PROFILE} runs already (pid ${report.state.pid}) and goes on after this ends.`,
  );
  if (mcpServers !== undefined) warn('It goes on with the MCP servers that it was started with.');
  return true;
}

/** Makes the backend of this home the profile `local`, and signs this machine in to it where it is not yet. */
async function signIn(app: App, url: string): Promise<{ target: Target; token: string }> {
  await updateConfig(
    app.paths,
    () => app.runtime.newId('mach'),
    (config) => {
      const known = config.profiles[LOCAL_PROFILE];
      if (known !== undefined && !isLoopback(new URL(known.url).hostname)) throw localIsTaken(known.url);
      config.profiles[LOCAL_PROFILE] = { ...known, url };
      config.activeProfile ??= LOCAL_PROFILE;
    },
  );
  const target = await resolveTarget(app, { server: LOCAL_PROFILE }, false);
  const store = credentialsOf(app, target);
  const known = await store.read();
  if (known !== undefined) {
    const works = await (await openAuth(app, target, known.token)).whoami().then(
      ({ serverId }) => known.serverId === undefined || known.serverId === serverId,
      (error: unknown) => {
        if (error instanceof KaiwuError && error.code === 'not_authenticated') return false;
        throw error;
      },
    );
    if (works) {
      if (known.url !== url) await store.write({ ...known, url });
      return { target, token: known.token };
    }
  }
  const bootstrap = await readBootstrap(app);
  if (bootstrap === undefined) {
    throw new KaiwuError(
      'not_authenticated',
      `${app.paths.backend.bootstrap} is missing, so nobody can sign in here.`,
      {
        hint: 'Restart `kaiwu up`: the backend writes it when it starts.',
      },
    );
  }
  const signedIn = await signInWithSecret(await openAuth(app, target), bootstrap.secret);
  await store.write(signedIn);
  return { target, token: signedIn.token };
}

/** Without a key everything works but files; that is no reason not to start. */
async function makeKey(
  app: App,
  { target, token }: { target: Target; token: string },
  { warn }: UpOptions,
): Promise<void> {
  const state = await ensureAccountKey(app, target, token).catch((error: unknown) => {
    const { code, message } = toWireError(error);
    warn(`Files cannot be sent: the key for them could not be made (${code}: ${message}).`);
  });
  if (state !== 'missing') return;
  warn(
    `This machine lacks the key of your files: \`${programName(app)} auth recovery restore\` takes the phrase.`,
  );
}

const localIsTaken = (url: string): KaiwuError =>
  new KaiwuError(
    'conflict',
    `The profile ${LOCAL_PROFILE} names ${url}, but it belongs to the backend of this home.`,
    {
      hint: `Remove it, and add that backend under another name: \`kaiwu server remove ${LOCAL_PROFILE}\`.`,
    },
  );

/** The second start: names the first, once it is ready. */
async function tellRunning(
  app: App,
  { say, signal, open }: UpOptions,
): Promise<{ stopped: boolean; url: string }> {
  const until = performance.now() + PEER_START_MS;
  while (performance.now() < until && !signal.aborted) {
    const report = await inspectUp(app);
    if (report.is === 'running') {
      const { pid, url, version } = report.state;
      const older =
        version === app.version ? '' : ` It is version ${version}, this command is ${app.version}.`;
      const { text, taken } = await linkToApp(app, open === true);
      await say(`Kaiwu is already running (pid ${pid}).${older}\nready ${url}\n\n${text}\n`);
      // The browser asks this process for the way.
      await taken;
      return { stopped: false, url };
    }
    await sleep(100);
  }
  throw new KaiwuError('conflict', 'Another `kaiwu up` holds this home but does not become ready.', {
    hint: `Stop it, or see its logs in ${app.paths.logs}.`,
  });
}

/** How the page is opened; without a link where none can be made, since everything else runs. */
async function linkToApp(app: App, open: boolean): Promise<{ text: string; taken?: Promise<boolean> }> {
  const again = `${programName(app)} app`;
  const target = await resolveTarget(app, { server: LOCAL_PROFILE }, false);
  const link = await makeAppLink(app, target).catch(() => undefined);
  if (link === undefined) return { text: `To open the app: ${again}` };
  const opening = open ? await openLink(app, link.url) : undefined;
  if (opening !== undefined) {
    return { text: `The app opens in your browser. Again: ${again}`, taken: opening.taken };
  }
  const text = `Open the app (the link is good once, for five minutes; for another: ${again}):\n\n  ${link.url}`;
  return { text };
}

function welcome(app: App, url: string, link: string): string {
  const { config } = toHostConfig(app, 'claude');
  const program = programName(app);
  // Another terminal need not have what this one was started with.
  const home = app.env.KAIWU_HOME ? `  export KAIWU_HOME=${shellQuote(app.paths.home)}\n` : '';
  return `ready ${url}

${link}

To use Kaiwu from an MCP host, paste this into its configuration.
For other hosts: ${program} mcp config --host NAME

${config}

Two things to try, in another terminal: start the demo agent in the folder that you are in (the
answer ends with the command that talks to it), and see your sessions.

${home}  ${program} session spawn-new demo . --title "First session"
  ${program} session list

Ctrl-C stops everything.
`;
}
