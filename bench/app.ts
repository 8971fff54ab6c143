import { type Browser, chromium, type Page } from 'playwright-core';
import { CHROMIUM_OPTIONS, hasChromium } from '../test/e2e/web/helpers/browser.ts';
import { type LargeWorld, openLargeWorld } from '../test/e2e/web/helpers/large-world.ts';
import type { Row } from './stats.ts';
import { inTurn, median, quantile } from './stats.ts';

const VISITS = 15;
/** Frames of one look at how a transcript scrolls. */
const FRAMES = 120;

const LARGE = { sessions: 5000, approvals: 1000, events: 10_000 };
const SMALL = { sessions: 1, approvals: 1, events: 20 };

interface Visitor {
  /** Milliseconds from the address until the first request can be answered. */
  inbox(): Promise<number>;
  /** Milliseconds from the address until the last words are there. */
  transcript(): Promise<number>;
  /** Milliseconds of each frame while it is scrolled. */
  frames(): Promise<number[]>;
}

async function visit(browser: Browser, { world, sessionId, link }: LargeWorld, events: number) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(await link());
  await page.getByRole('heading', { level: 1 }).waitFor();
  const timed = async (path: string, ready: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await page.goto(world.url + path);
    await ready();
    return performance.now() - started;
  };
  const transcript = () =>
    timed(`/sessions/${sessionId}`, () => page.getByText(`Words ${events - 1}.`).waitFor());
  const visitor: Visitor = {
    inbox: () =>
      timed('/inbox', async () => {
        const card = page.getByRole('article').first();
        await card.getByRole('button', { name: 'Deny', exact: true }).click();
        await card.getByLabel(/^Reason/).waitFor();
      }),
    transcript,
    async frames() {
      await transcript();
      return scroll(page);
    },
  };
  return visitor;
}

/** Up through what is loaded, as with a wheel; a step and what came of it is one frame. */
const scroll = (page: Page): Promise<number[]> =>
  page.getByRole('log').evaluate(async (box, count) => {
    const { requestAnimationFrame: frame } = globalThis as unknown as {
      requestAnimationFrame(done: () => void): void;
    };
    const gaps: number[] = [];
    let last = performance.now();
    for (let i = 0; i < count; i++) {
      box.scrollBy(0, -80);
      await new Promise<void>((done) => frame(done));
      gaps.push(performance.now() - last);
      last = performance.now();
    }
    return gaps;
  }, FRAMES);

/** The app in a browser over an account with much in it, against the same app over one with next to nothing. */
export async function measureApp(): Promise<Row[]> {
  if (!hasChromium) return [];
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  const large = await openLargeWorld(LARGE);
  const small = await openLargeWorld(SMALL);
  try {
    const many = await visit(browser, large, LARGE.events);
    const few = await visit(browser, small, SMALL.events);
    const compare = async (name: 'inbox' | 'transcript', what: string, reference: string): Promise<Row> => {
      await inTurn(2, many[name], few[name]);
      const { a, b } = await inTurn(VISITS, many[name], few[name]);
      return {
        what,
        ours: `${median(a).toFixed(0)} ms`,
        reference: `${median(b).toFixed(0)} ms, ${reference}`,
        ratio: (median(a) / median(b)).toFixed(2),
        target: 'under 1,000 ms',
      };
    };
    const rows = [
      await compare('inbox', 'app: inbox usable, 1,000 pending approvals, 5,000 sessions', 'one of each'),
      await compare('transcript', 'app: transcript of 10,000 events open at its end', '20 events'),
    ];
    const [a, b] = [await many.frames(), await few.frames()];
    rows.push({
      what: 'app: a frame while that transcript is scrolled, p95',
      ours: `${quantile(a, 0.95).toFixed(1)} ms`,
      reference: `${quantile(b, 0.95).toFixed(1)} ms, 20 events`,
      ratio: (quantile(a, 0.95) / quantile(b, 0.95)).toFixed(2),
      target: 'at most 2',
    });
    return rows;
  } finally {
    await browser.close();
    await large.world.end();
    await small.world.end();
  }
}
