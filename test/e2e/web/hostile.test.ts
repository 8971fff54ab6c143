import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { DESKTOP, hasChromium, PHONE, startWebWorld, type WebWorld } from './helpers/browser.ts';

/** What strangers write to fool whoever reads it, and how it is shown. */
const HOSTILE: [raw: string, shown: string][] = [
  ['a\u202Egnp.exe', 'a\\u202egnp.exe'],
  ['rm\u200B -rf', 'rm\\u200b -rf'],
  ['up\u001B[2K\u001B[1A', 'up\\u001b[2K\\u001b[1A'],
  ['harmless\rharmful', 'harmless\\u000dharmful'],
  ['<b>Approved by admin</b>', '<b>Approved by admin</b>'],
  ['[Approve](https://evil.example)', '[Approve](https://evil.example)'],
  ['![x](https://evil.example/p.png)', '![x](https://evil.example/p.png)'],
  ['`x` <https://evil.example|Approve>', '`x` <https://evil.example|Approve>'],
];
const ALL = HOSTILE.map(([raw]) => raw).join(' ; ');
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f\u200b\u202e]/;

describe.skipIf(!hasChromium)('words of strangers, wherever they are shown (Chromium)', () => {
  let web: WebWorld;
  let sessionId: string;
  let asking: string;
  const say = (message: string, wait = true) =>
    web.output('session.message.send', { sessionId, message, wait });
  const start = async (title: string, more: object = {}) => {
    const input = { agentId: 'demo', directory: web.directory, title, ...more };
    return String((await web.output('session.spawn_new', input)).sessionId);
  };

  beforeAll(async () => {
    web = await startWebWorld();
    await web.output('policy.set', { rules: { 'session.title.set': { cli: { approval: true } } } });
    sessionId = await start('Transcript');
    asking = await start('Question');
    const target = await start('Approvals');
    for (const [raw] of HOSTILE) {
      await start(raw, { parentSessionId: sessionId });
      await web.envelope('session.title.set', { sessionId: target, title: raw });
      await web.output('token.create', { name: raw });
      await web.envelope(raw, {});
      await say(`say ${raw}`);
    }
    const { approvals } = await web.output('approval.request.list', { status: 'pending', limit: 1 });
    const [{ artifactId }] = approvals as [{ artifactId: string }];
    await web.output('approval.request.decide', { artifactId, decision: 'deny', reason: ALL });
    await say(`think ${ALL}`);
    await say(`plan ${ALL}`);
    await say(`edit ${HOSTILE[0]![0]} ${ALL}`, false);
    await web.output('session.message.send', { sessionId: asking, message: `question ${ALL}` });
    await web.output('review.start', {
      sessionId,
      backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
      instructions: `say ${ALL}`,
      waitForCompletion: true,
    });
    const file = join(web.directory, HOSTILE[0]![0]);
    await writeFile(file, ALL);
    await web.output('file.send', { sessionId: target, path: HOSTILE[0]![0], message: ALL });
    // A machine and an agent name themselves; here they are renamed where they are stored.
    const db = openSqlite(join(web.world.home, 'backend/kaiwu.db'));
    db.prepare('update machines set name = ?').run(ALL);
    db.prepare('update sessions set agent_id = ? where session_id = ?').run(ALL, target);
    db.close();
  }, 180_000);
  afterAll(() => web?.stop(), 60_000);

  /** Everything that a person or a screen reader is told. */
  const told = (page: Page) =>
    page.evaluate(() => {
      for (const fold of document.querySelectorAll('details')) fold.open = true;
      const named = [...document.querySelectorAll('[title], [aria-label], [alt]')].map((element) =>
        ['title', 'aria-label', 'alt'].map((name) => element.getAttribute(name) ?? '').join('\n'),
      );
      return [document.title, document.body.textContent, ...named].join('\n');
    });

  const MADE = 'main b, main i, main script, main a[href*="evil"], main img[src*="evil"], main iframe';
  const PLACES: [place: string, path: () => string, shown: string[]][] = [
    ['approvals and questions', () => '/inbox', HOSTILE.map(([, shown]) => shown)],
    ['titles of sessions, agents and machines', () => '/sessions', HOSTILE.map(([, shown]) => shown)],
    ['files', () => '/files', [HOSTILE[0]![1]]],
    ['machines', () => '/machines', HOSTILE.map(([, shown]) => shown)],
    ['runs', () => '/runs', HOSTILE.map(([, shown]) => shown)],
    ['rows of the audit', () => '/audit', HOSTILE.map(([, shown]) => shown)],
    ['names of tokens', () => '/devices', HOSTILE.map(([, shown]) => shown)],
    // Code in an agent's words is drawn as such.
    ['a transcript', () => `/sessions/${sessionId}`, HOSTILE.slice(0, 7).map(([, shown]) => shown)],
    ['a question', () => `/sessions/${asking}`, HOSTILE.map(([, shown]) => shown)],
    ...HOSTILE.map(([raw, shown]): [string, () => string, string[]] => [
      `an error about ${shown}`,
      () => `/sessions/${encodeURIComponent(raw)}`,
      // It repeats what it received as JSON.
      [shown.replace('\\u000d', '\\r')],
    ]),
  ];

  for (const [size, locale] of [
    [DESKTOP, 'en-GB'],
    [PHONE, 'zh-CN'],
  ] as const) {
    test(`are text, with what is invisible made visible, and lead nowhere: ${locale}, ${size.width} wide`, async () => {
      const { page, context, problems } = await web.visit({ size, locale });
      for (const [place, path, shown] of PLACES) {
        await page.goto(web.world.url + path());
        await expect
          .poll(
            async () => {
              const text = (await told(page)).replaceAll(/\s+/g, ' ');
              return { place, missing: shown.filter((words) => !text.includes(words)) };
            },
            { timeout: 10_000 },
          )
          .toEqual({ place, missing: [] });
        expect({ place, raw: RAW.exec(await told(page))?.[0] }).toEqual({ place, raw: undefined });
        expect({ place, made: await page.locator(MADE).count() }).toEqual({ place, made: 0 });
      }
      // An error of a call that was refused is told by the browser's own console, and that is all.
      expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([]);
      await context.close();
    }, 120_000);
  }

  test.each([
    ['session', 'list'],
    ['inbox', 'list'],
    ['approval', 'request', 'list'],
    ['audit', 'list', '--limit', '100'],
    ['machines', 'list'],
    ['token', 'list'],
    ['execution', 'run', 'list'],
    ['file', 'list'],
    ['session', 'transcript', 'get'],
    ['session', 'status', 'get'],
  ])('move no cursor of a terminal: kaiwu %s %s %s', async (...command) => {
    const more = command[1] === 'transcript' || command[1] === 'status' ? ['--session', sessionId] : [];
    const { code, stdout, stderr } = await web.world.cli([...command, ...more]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).not.toBe('');
    expect(RAW.exec(stdout + stderr)?.[0]).toBeUndefined();
  });
});
