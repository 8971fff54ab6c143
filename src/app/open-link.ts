import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentSessionBehind, userBehind } from '../local/provenance.ts';
import type { App } from './app.ts';

/** Programs that open an address in this person's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Milliseconds for a browser to start and to ask for what it was sent to. */
const BROWSER_MS = 60_000;
/** Milliseconds for a browser to read a file; nobody tells when it has. */
const FILE_MS = 5000;

/** An address that says nothing by itself, and whether a browser took what stands behind it. */
interface Stand {
  address: string;
  taken: Promise<boolean>;
  end(): void | Promise<void>;
}

/**
 * Opens a link that holds a secret. The command line of a browser can be read by every user of the machine, so the browser is
 * sent to an address that is of no use to them: a redirect for processes of this user alone, or a file that only they can read.
 * @returns undefined where nothing opens addresses; `taken`: whether a browser took the link
 */
export async function openLink(app: App, url: string): Promise<{ taken: Promise<boolean> } | undefined> {
  const { platform } = process;
  const stand = await (platform === 'linux' ? standBehindSocket(url) : standInFile(app, url));
  const [program = '', ...args] = OPENERS[platform] ?? ['xdg-open'];
  const opener = spawn(program, [...args, stand.address], { stdio: 'ignore', detached: true });
  const failed = refusalOf(opener);
  try {
    await once(opener, 'spawn');
  } catch {
    await stand.end();
    return undefined;
  }
  opener.unref();
  const wait = async (): Promise<boolean> => {
    const taken = await Promise.race([stand.taken, failed]);
    await stand.end();
    return taken;
  };
  return { taken: wait() };
}

/** Settles where the program says that nothing was opened. */
const refusalOf = (opener: ChildProcess): Promise<false> =>
  new Promise((resolve) => {
    opener.once('error', () => resolve(false));
    opener.once('exit', (code) => code !== 0 && resolve(false));
  });

/** Sends the first of this user's own processes that asks on to the link, and nobody else. */
async function standBehindSocket(url: string): Promise<Stand> {
  const path = `/${randomUUID()}`;
  let take: (taken: boolean) => void = () => undefined;
  const taken = new Promise<boolean>((resolve) => {
    take = resolve;
  });
  let open = true;
  const server = createServer((request, response) => {
    const isHis = open && request.url === path && isOwnPerson(request);
    if (!isHis) {
      response.writeHead(403, { connection: 'close' }).end();
      return;
    }
    open = false;
    const headers = { location: url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    response.writeHead(302, { ...headers, connection: 'close' }).end(() => take(true));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const late = setTimeout(() => take(false), BROWSER_MS);
  return {
    address: `http://127.0.0.1:${port}${path}`,
    taken,
    end() {
      clearTimeout(late);
      server.close();
    },
  };
}

/** A process of this user that is no agent's. Where it cannot be told it is none. */
function isOwnPerson({ socket }: IncomingMessage): boolean {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (localAddress === undefined || localPort === undefined) return false;
  if (remoteAddress === undefined || remotePort === undefined) return false;
  const connection = {
    server: { address: localAddress, port: localPort },
    peer: { address: remoteAddress, port: remotePort },
  };
  return userBehind(connection) === process.getuid?.() && agentSessionBehind(connection) === undefined;
}

/** A page that leads on, in a file of this user's own. */
async function standInFile(app: App, url: string): Promise<Stand> {
  const file = join(app.paths.home, `open-${randomUUID()}.html`);
  const safe = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const page = `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${safe}">`;
  await writeFile(file, page, { mode: 0o600, flag: 'wx' });
  return {
    address: pathToFileURL(file).href,
    taken: sleep(FILE_MS, true),
    end: () => rm(file, { force: true }),
  };
}
