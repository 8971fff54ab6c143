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
/** Messages of a session that may be without an end before it gets another. */
const MAX_WAITING = 8;
const SESSIONS = ['s1', 's2', 's3', 'other'];
/** Whose agent can come back to its conversation. */
const LOADS = (sessionId: string) => sessionId !== 'other';

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
  const texts = new Map<string, Message & { acknowledged: boolean }>();
  const { backend } = place;
  let count = 0;

  const unfinished = (of: string) =>
    [...texts].flatMap(([messageId, { sessionId }]) =>
      sessionId === of && endsOf(backend, messageId).length !== 1 ? [messageId] : [],
    );

  async function send(messageId: string): Promise<void> {
    const message = texts.get(messageId);
    if (message === undefined || message.acknowledged) return;
    const { sessionId, text } = message;
    const delivery = pick(['queue', 'queue', 'queue', 'steer', 'interrupt'] as const);
    const more = Math.random() < 0.15 ? { permissionModeOverride: 'accept_edits' as const } : {};
    await place.deliver(sessionId, messageId, text, {
      ...more,
      delivery: LOADS(sessionId) || delivery !== 'steer' ? delivery : 'queue',
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
      if (unfinished(sessionId).length > MAX_WAITING) return;
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
  /** Which of them is done: some more often than others. */
  const MORE = [0, 0, 0, 0, 0, 1, 2, 1, 2, 1, 2, 3, 4, 5, 6];

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
        const stuck = SESSIONS.filter((sessionId) => unfinished(sessionId).length > 0);
        const last = stuck.map((sessionId) => [
          ...unfinished(sessionId),
          ...backend.events(sessionId).slice(-5),
        ]);
        expect(JSON.stringify(last, undefined, 1)).toBe('[]');
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

function holds(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}

type Message = { sessionId: string; text: string };

/** Numbers without gaps, and of each turn and each request one beginning before one end, with nothing after it. */
function checkOrder(sessionId: string, events: SessionEvent[]): void {
  assertGapless(events);
  const begun = new Set<string>();
  const ended = new Set<string>();
  for (const event of events) {
    const at = `${sessionId}: ${JSON.stringify(event).slice(0, 500)}`;
    if ('messageId' in event) holds(!ended.has(event.messageId), `after its end, ${at}`);
    if (event.type === 'user_message') {
      holds(!begun.has(event.messageId), `begun twice, ${at}`);
      begun.add(event.messageId);
    } else if (event.type === 'turn_ended') {
      holds(begun.has(event.messageId), `never begun, ${at}`);
      holds(!LOADS(sessionId) || event.reason?.message.includes('cannot come back') !== true, at);
      ended.add(event.messageId);
    } else if (event.type === 'message_canceled') {
      ended.add(event.messageId);
    } else if (event.type === 'permission_requested' || event.type === 'question_asked') {
      holds(!begun.has(event.request.requestId), `asked twice, ${at}`);
      begun.add(event.request.requestId);
    } else if (event.type === 'permission_resolved' || event.type === 'question_answered') {
      holds(begun.has(event.requestId) && !ended.has(event.requestId), `answers nothing, ${at}`);
      ended.add(event.requestId);
    } else if (event.type === 'agent_attachment') {
      const bytes = readFileSync(event.path as string);
      holds(createHash('sha256').update(bytes).digest('hex') === event.sha256, at);
    }
  }
}

/** What was said in turns that nothing broke into is all there, and once. */
function checkText(events: SessionEvent[], messages: Iterable<[string, Message]>): void {
  for (const [messageId, { text }] of messages) {
    const own = events.filter((event) => 'messageId' in event && event.messageId === messageId);
    const isWhole = own.some(
      (event) => event.type === 'turn_ended' && event.outcome === 'completed' && event.steered === undefined,
    );
    const isSteered = events.some((event) => event.type === 'user_message' && event.steered === messageId);
    if (!isWhole || isSteered || !text.startsWith('say ')) continue;
    const said = own.map((event) => (event.type === 'agent_text' ? event.text : '')).join('');
    holds(said === text.slice(4), `${messageId} said ${said.length} of ${text.length - 4} characters`);
  }
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
        const requestId = open[i]?.request.requestId;
        if (requestId === undefined || !LOADS(sessionId)) continue;
        const events = place.backend.events(sessionId);
        const isOpen = openAsk(events)?.request.requestId === requestId;
        if (isOpen) kept += 1;
        const isSettled = events.some((event) => 'requestId' in event && event.requestId === requestId);
        holds(isOpen || isSettled, `${sessionId} lost its request ${requestId}`);
      }
      await Promise.all(pids.map((pid) => groupIsGone(pid)));
    }
    await visitor.settle();
    await vi.waitFor(async () => expect((await status(running.port)).outbox.events).toBe(0), 20_000);
    for (const sessionId of SESSIONS) {
      const events = place.backend.events(sessionId);
      checkOrder(sessionId, events);
      if (LOADS(sessionId)) checkText(events, visitor.texts);
    }
    if (process.env.KAIWU_KILLS !== undefined) {
      const events = allEvents(place.backend).length;
      console.info(`${KILLS} kills, ${visitor.texts.size} messages, ${events} events, ${kept} requests kept`);
    }
    expect(await running.kill('SIGTERM')).toBe(0);
  },
  120_000 + KILLS * 6000,
);
