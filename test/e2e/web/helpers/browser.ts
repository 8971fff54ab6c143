import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { makeFolder } from '../../../helpers/kaiwu.ts';
import { startWorld, type World } from '../../../helpers/world.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Said by name where it is missing, so that nobody takes a skipped test for a passed one. */
export const hasChromium = existsSync(CHROMIUM);

export const CHROMIUM_OPTIONS = {
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
};

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

export interface WebWorld {
  world: World;
  browser: Browser;
  /** A folder in the world that sessions may work in. */
  directory: string;
  /** The output of an action, called as the command line does. */
  output(action: string, input: object, idempotencyKey?: string): Promise<Record<string, unknown>>;
  /** Calls an action as a host would, which asks first where the policy says so. Answers the envelope. */
  envelope(action: string, input: object): Promise<Record<string, unknown>>;
  /** A browser of its own, signed in or not. Everything that goes wrong in it is in `problems`. */
  visit(options?: VisitOptions): Promise<Visit>;
  /** Kills everything but the browser, and starts it again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface VisitOptions {
  size?: { width: number; height: number };
  locale?: string;
  /** Default true. */
  signedIn?: boolean;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors of the console, refused requests of the page's policy, and requests to elsewhere. */
  problems: string[];
}

/** Kaiwu and a browser. */
export async function startWebWorld(): Promise<WebWorld> {
  const home = await makeFolder('kaiwu-web-');
  let world = await startWorld({ home });
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  const directory = join(world.home, 'project');
  await mkdir(directory);

  async function envelope(action: string, input: object, more: string[] = []) {
    const { json, stderr } = await world.cli([
      'action',
      'exec',
      action,
      '--input',
      JSON.stringify(input),
      '--json',
      ...more,
    ]);
    if (json === undefined) throw new Error(`${action}: ${stderr}`);
    return json as Record<string, unknown>;
  }

  return {
    get world() {
      return world;
    },
    browser,
    directory,
    envelope,
    async output(action, input) {
      const answer = await envelope(action, input);
      if (answer.status !== 'ok') throw new Error(`${action}: ${JSON.stringify(answer)}`);
      return answer.output as Record<string, unknown>;
    },
    async visit({ size = DESKTOP, locale = 'en-GB', signedIn = true } = {}) {
      const context = await browser.newContext({ viewport: size, locale });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('request', (request) => {
        if (!request.url().startsWith(world.url) && !/^(blob|data):/.test(request.url()))
          problems.push(`asked ${request.url()}`);
      });
      await page.goto(signedIn ? await linkOf(world) : `${world.url}/inbox`);
      if (signedIn) await page.getByRole('navigation').first().waitFor();
      return { page, context, problems };
    },
    async restart() {
      await world.kill();
      await world.stop();
      world = await startWorld({ home });
    },
    async stop() {
      await browser.close();
      await world.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A fresh link, as `kaiwu app --print` prints it. */
export async function linkOf(world: World): Promise<string> {
  const { stdout, stderr } = await world.cli(['app', '--print']);
  const link = /http\S+#key=\S+/.exec(stdout)?.[0];
  if (link === undefined) throw new Error(`no link: ${stdout}${stderr}`);
  return link;
}
