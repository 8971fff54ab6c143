import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { KaiwuError } from '../../src/core/errors.ts';
import type { SessionEvent } from '../../src/core/session.ts';
import { type DaemonProcess, makePlace, type Place, status } from './helpers/place.ts';
import { groupIsGone } from './helpers/processes.ts';
import { assertGapless, fakeAgent } from './helpers/world.ts';

/** How often the daemon is killed; more with KAIWU_KILLS, for a long look. */
const KILLS = Number(process.env.KAIWU_KILLS ?? 8);
const SESSIONS = ['s1', 's2', 's3', 'other'];

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
const long = (id: string) => `${id} ${'— 漢 '.repeat(Math.ceil(Math.random() * 3000))}end`;

const TEXTS = [
  (id: string) => `say ${long(id)}`,
  (id: string) => `think ${id}`,
  (id: string) => `ask edit ${id}`,
  (id: string) => `ask ${id}`,
  (id: string) => `question ${id}`,
  () => 'image',
  () => 'sleep 0.3',
  () => 'sleep 2',
  (id: string) => `plan ${id}; b; c`,
  (id: string) => `edit file-${id} new`,
];

/** What somebody does to a session while it is killed under their hands. */
function createVisitor(place: Place) {
  const texts = new Map<string, { sessionId: string; text: string; acknowledged: boolean }>();
  const { backend } = place;
  let count = 0;

  async function send(messageId: string): Promise<void> {
    const message = texts.get(messageId);
    if (message === undefined || message.acknowledged) return;
    const { sessionId, text } = message;
    const delivery = pick(['queue', 'queue', 'queue', 'steer', 'interrupt'] as const);
    const more = Math.random() < 0.15 ? { permissionModeOverride: 'accept_edits' as const } : {};
    await place.deliver(sessionId, messageId, text, {
      ...more,
      delivery: sessionId === 'other' && delivery === 'steer' ? 'queue' : delivery,
    });
    message.acknowledged = true;
  }

  async function answer(sessionId: string): Promise<void> {
    const open = openAsk(backend.events(sessionId));
    if (open === undefined) return;
    const { requestId } = open.request;
    const by = 'visitor';
    if (open.type === 'question_asked')
      await backend.request('session.answer_question', {
        sessionId,
        requestId,
        answer: 'accept',
        content: { answer: 'left' },
        by,
      });
    else {
      const optionId = open.request.options.find(({ kind }) => kind === 'allow_once')?.optionId;
      await backend.request('session.answer', { sessionId, requestId, optionId, by });
    }
  }

  const doings: (() => Promise<unknown>)[] = [
    async () => {
      const messageId = `m${(count += 1)}`;
      const sessionId = pick(SESSIONS);
      texts.set(messageId, { sessionId, text: pick(TEXTS)(messageId), acknowledged: false });
      await send(messageId);
    },
    () => answer(pick(SESSIONS)),
    () => answer(pick(SESSIONS)),
    async () => backend.drop(),
    () =>
      backend.request('session.set_mode', {
        sessionId: pick(SESSIONS),
        permissionMode: pick(['default', 'accept_edits'] as const),
      }),
    () => backend.request('session.interrupt', { sessionId: pick(SESSIONS) }),
    async () => Math.random() < 0.2 && backend.request('session.stop', { sessionId: pick(SESSIONS) }),
  ];
  const MORE = [0, 0, 0, 0, 0, 1, 2, 1, 2, 3, 4, 5, 6];

  return {
    texts,
    /** One thing, whatever becomes of it: the daemon may be gone before it answers. */
    async act(): Promise<void> {
      await doings[pick(MORE)]?.().catch((error: unknown) => {
        if (!(error instanceof KaiwuError)) return;
        const known = ['machine_offline', 'not_found', 'agent_failed', 'timeout'];
        if (!known.includes(error.code)) throw error;
      });
    },
    async settle(): Promise<void> {
      for (const messageId of texts.keys()) await send(messageId);
      await vi.waitFor(async () => {
        for (const sessionId of SESSIONS) await answer(sessionId).catch(() => {});
        for (const messageId of texts.keys()) expect(endsOf(backend, messageId), messageId).toHaveLength(1);
      }, 60_000);
    },
  };
}

type Asked = Extract<SessionEvent, { type: 'permission_requested' | 'question_asked' }>;

function openAsk(events: SessionEvent[]): Asked | undefined {
  return events.reduce<Asked | undefined>((open, event) => {
    if (event.type === 'permission_requested' || event.type === 'question_asked') return event;
    return /^(permission_resolved|question_answered|turn_ended|session_(stopped|failed))$/.test(event.type)
      ? undefined
      : open;
  }, undefined);
}

const allEvents = (backend: Place['backend']) => SESSIONS.flatMap((sessionId) => backend.events(sessionId));

const endsOf = (backend: Place['backend'], messageId: string) =>
  allEvents(backend).filter(
    (event) =>
      (event.type === 'turn_ended' || event.type === 'message_canceled') && event.messageId === messageId,
  );

function check(place: Place, texts: ReturnType<typeof createVisitor>['texts']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const sessionId of SESSIONS) {
    const events = place.backend.events(sessionId);
    assertGapless(events);
    const begun = new Set<string>();
    const ended = new Set<string>();
    const asked = new Set<string>();
    const settled = new Set<string>();
    for (const event of events) {
      const what = 'outcome' in event ? `${event.type} ${event.outcome}` : event.type;
      counts[what] = (counts[what] ?? 0) + 1;
      const at = `${sessionId} event ${event.seq} ${JSON.stringify(event).slice(0, 500)}`;
      if ('messageId' in event) expect(ended.has(event.messageId), `after its end: ${at}`).toBe(false);
      switch (event.type) {
        case 'user_message':
          expect(begun.has(event.messageId), `begun twice: ${at}`).toBe(false);
          begun.add(event.messageId);
          break;
        case 'turn_ended':
          expect(begun.has(event.messageId), `never begun: ${at}`).toBe(true);
          if (sessionId !== 'other')
            expect(event.reason?.message ?? '', at).not.toContain('cannot come back');
          ended.add(event.messageId);
          break;
        case 'message_canceled':
          ended.add(event.messageId);
          break;
        case 'permission_requested':
        case 'question_asked':
          expect(asked.has(event.request.requestId), `asked twice: ${at}`).toBe(false);
          asked.add(event.request.requestId);
          break;
        case 'permission_resolved':
        case 'question_answered':
          expect(asked.has(event.requestId), `answer to nothing: ${at}`).toBe(true);
          expect(settled.has(event.requestId), `answered twice: ${at}`).toBe(false);
          settled.add(event.requestId);
          break;
        case 'agent_attachment':
          expect(createHash('sha256').update(readFileSync(event.path!)).digest('hex'), at).toBe(event.sha256);
          break;
      }
    }
    for (const [messageId, { text, sessionId: of }] of texts) {
      if (of !== sessionId) continue;
      expect(ended.has(messageId), `${messageId} never ended`).toBe(true);
      const end = events.find((event) => event.type === 'turn_ended' && event.messageId === messageId);
      const steered = events.some((event) => event.type === 'user_message' && event.steered === messageId);
      if (end?.type !== 'turn_ended' || end.outcome !== 'completed' || end.steered !== undefined || steered)
        continue;
      const said = events.flatMap((event) =>
        event.type === 'agent_text' && event.messageId === messageId ? [event.text] : [],
      );
      if (text.startsWith('say ') && sessionId !== 'other') expect(said.join('')).toBe(text.slice(4));
    }
  }
  return counts;
}

test(
  'killed at any moment of turns that ask, are steered and send files: nothing is lost, doubled or left behind',
  async () => {
    const place = await makePlace({
      demoKeeps: true,
      agents: [fakeAgent('permits')],
    });
    let running: DaemonProcess = await place.run();
    for (const sessionId of SESSIONS)
      await place.start(sessionId, sessionId === 'other' ? 'permits' : 'demo');
    const visitor = createVisitor(place);
    let kept = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const until = performance.now() + Math.random() * 1500;
      while (performance.now() < until) {
        void visitor.act();
        await sleep(Math.random() * 60);
      }
      const pids = (await status(running.port)).sessions.flatMap(({ pid }) => pid ?? []);
      await running.kill(pick(['SIGKILL', 'SIGKILL', 'SIGKILL', 'SIGTERM'] as const));
      const open = SESSIONS.map((sessionId) => openAsk(place.backend.events(sessionId)));
      if (Math.random() < 0.5) await Promise.all(pids.map((pid) => groupIsGone(pid)));
      running = await place.run();
      await vi.waitFor(async () => expect((await status(running.port)).outbox.events).toBe(0), 20_000);
      for (const [i, sessionId] of SESSIONS.entries()) {
        const before = open[i];
        if (before === undefined || sessionId === 'other') continue;
        const after = place.backend.events(sessionId).slice(before.seq);
        const now = openAsk(place.backend.events(sessionId));
        if (now?.request.requestId === before.request.requestId) kept += 1;
        else
          expect(
            after.some(
              (event) =>
                (event.type === 'permission_resolved' || event.type === 'question_answered') &&
                event.requestId === before.request.requestId,
            ),
            `${sessionId} lost ${JSON.stringify(before)}`,
          ).toBe(true);
      }
      await Promise.all(pids.map((pid) => groupIsGone(pid)));
    }
    await visitor.settle();
    await vi.waitFor(async () => expect((await status(running.port)).outbox.events).toBe(0), 20_000);
    const counts = check(place, visitor.texts);
    if (process.env.KAIWU_KILLS !== undefined)
      console.info(`${KILLS} kills, ${visitor.texts.size} messages, ${kept} requests outlived one`, counts);
    expect(await running.kill('SIGTERM')).toBe(0);
  },
  120_000 + KILLS * 6000,
);
