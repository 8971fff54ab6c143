import { KaiwuError } from '../../core/errors.ts';
import { type BackendMethods, LINK_MAX_FRAME, type LinkWelcome } from '../../core/link.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { RpcPeer } from '../../core/rpc-peer.ts';
import type { SessionEvent } from '../../core/session.ts';
import type { Journal } from '../journal/journal.ts';

const APPEND_LIMIT_MS = 30_000;
/** Wait before events that the backend did not take are sent again; doubles each time. */
const HOLD_MIN_MS = 500;
const HOLD_MAX_MS = 60_000;
/** Appends that may be under way at once, each of one session. */
const MAX_IN_FLIGHT = 8;
/** Events without acknowledgement from which on a session's agent is not read any further. */
const AHEAD_EVENTS = 2000;

/** Answers that stay the same however often the same is sent. */
const FINAL = new Set<string>(['invalid_input', 'payload_too_large']);
/** Bytes of a frame around its events. */
const FRAME_ROOM = 4096;

/** Brings events to the backend, in order, and keeps each until the backend has it. */
export interface EventSender {
  /** A link is up and the backend has said what it holds. */
  up(peer: RpcPeer<BackendMethods>, welcome: LinkWelcome): void;
  down(): void;
  appended(sessionId: string, lastSeq: number): void;
  /** Whether a session has written much more than the backend has taken; never while there is no link. */
  isAhead(sessionId: string): boolean;
  /** Resolves when the backend has all events of the session so far, the link goes down, or `withinMs` have passed. */
  flushed(sessionId: string, withinMs: number): Promise<void>;
  /** The same of all sessions. */
  flushedAll(withinMs: number): Promise<void>;
}

interface Lane {
  lastSeq: number;
  ackedSeq: number;
  busy: boolean;
  /** Set while the backend does not take its events; then it is tried again. */
  held?: NodeJS.Timeout;
  failures: number;
  /** Events up to this number go one by one: one of them was refused. */
  aloneUntil: number;
  waiting: { seq: number; done(): void }[];
}

export function createEventSender(options: {
  journal: Journal;
  log: Logger;
  /** Hears when a session that was ahead has been caught up with. */
  onCaughtUp(sessionId: string): void;
}): EventSender {
  const { journal, log } = options;
  const lanes = new Map<string, Lane>();
  const turns: string[] = [];
  let inFlight = 0;
  let peer: RpcPeer<BackendMethods> | undefined;

  function laneOf(sessionId: string, lastSeq = journal.session(sessionId)?.lastSeq ?? 0): Lane {
    let lane = lanes.get(sessionId);
    if (lane === undefined) {
      lane = { lastSeq, ackedSeq: 0, busy: false, failures: 0, aloneUntil: 0, waiting: [] };
      lanes.set(sessionId, lane);
    }
    return lane;
  }

  function wake(sessionId: string): void {
    if (!turns.includes(sessionId)) turns.push(sessionId);
    if (peer === undefined) return;
    while (inFlight < MAX_IN_FLIGHT && turns.length > 0) {
      const next = turns.shift() as string;
      const lane = laneOf(next);
      if (!lane.busy && lane.held === undefined) void send(next, lane, peer);
    }
  }

  async function send(sessionId: string, lane: Lane, over: RpcPeer<BackendMethods>): Promise<void> {
    const batch = journal.unsent(sessionId, lane.ackedSeq);
    const events = lane.ackedSeq < lane.aloneUntil ? batch.slice(0, 1) : batch;
    if (events.length === 0) return settle(lane, true);
    lane.busy = true;
    inFlight += 1;
    try {
      requireFits(events);
      const { ackedSeq } = await over.request('events.append', { sessionId, events }, APPEND_LIMIT_MS);
      if (over === peer) acknowledge(sessionId, lane, ackedSeq);
    } catch (error) {
      if (over === peer && !singleOut(sessionId, lane, events, error)) hold(sessionId, lane, error);
    } finally {
      // A link that went down in the meantime has begun to count anew.
      if (over === peer) {
        lane.busy = false;
        inFlight -= 1;
        wake(sessionId);
      }
    }
  }

  function acknowledge(sessionId: string, lane: Lane, ackedSeq: number): void {
    if (ackedSeq <= lane.ackedSeq) {
      return hold(sessionId, lane, new KaiwuError('conflict', `the backend stays at event ${ackedSeq}`));
    }
    const wasAhead = lane.lastSeq - lane.ackedSeq > AHEAD_EVENTS;
    lane.ackedSeq = ackedSeq;
    lane.failures = 0;
    journal.acknowledge(sessionId, ackedSeq);
    if (wasAhead && lane.lastSeq - ackedSeq <= AHEAD_EVENTS) options.onCaughtUp(sessionId);
    settle(lane, false);
  }

  /**
   * What is refused as it is will be refused for ever, and must not keep back what follows. The event that it is about
   * is found by sending each alone, and a notice takes its place. Answers whether there is something new to send.
   */
  function singleOut(sessionId: string, lane: Lane, events: SessionEvent[], error: unknown): boolean {
    if (!(error instanceof KaiwuError && FINAL.has(error.code))) return false;
    const [event] = events;
    if (event === undefined) return false;
    if (events.length > 1) {
      lane.aloneUntil = event.seq + events.length - 1;
      return true;
    }
    if (isStandIn(event)) return false;
    try {
      journal.replaceUnsent(sessionId, toStandIn(event, error));
    } catch {
      return false;
    }
    log.error({ sessionId, seq: event.seq, type: event.type, error }, 'an event cannot be sent as it is');
    return true;
  }

  function hold(sessionId: string, lane: Lane, error: unknown): void {
    const waitMs = Math.min(HOLD_MAX_MS, HOLD_MIN_MS * 2 ** lane.failures++);
    lane.held = setTimeout(() => {
      lane.held = undefined;
      wake(sessionId);
    }, waitMs);
    log.warn({ sessionId, ackedSeq: lane.ackedSeq, waitMs, error }, 'the backend did not take events');
    options.onCaughtUp(sessionId);
    settle(lane, true);
  }

  function settle(lane: Lane, all: boolean): void {
    for (const { done } of lane.waiting.filter(({ seq }) => all || seq <= lane.ackedSeq)) done();
    lane.waiting = lane.waiting.filter(({ seq }) => !all && seq > lane.ackedSeq);
  }

  const isUp = (lane: Lane) => peer !== undefined && lane.held === undefined;

  async function flushed(sessionId: string, withinMs: number): Promise<void> {
    const lane = laneOf(sessionId);
    if (!isUp(lane) || lane.ackedSeq >= lane.lastSeq) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      lane.waiting.push({ seq: lane.lastSeq, done });
    });
  }

  return {
    up(over, welcome) {
      peer = over;
      lanes.clear();
      for (const { sessionId, ackedSeq } of welcome.sessions) {
        const stored = journal.session(sessionId);
        if (stored === undefined) continue;
        if (ackedSeq > stored.lastSeq) {
          log.warn(
            { sessionId, ackedSeq, lastSeq: stored.lastSeq },
            'the backend holds later events than this daemon',
          );
          journal.skipTo(sessionId, ackedSeq);
        }
        journal.acknowledge(sessionId, ackedSeq);
        laneOf(sessionId, Math.max(ackedSeq, stored.lastSeq)).ackedSeq = ackedSeq;
      }
      for (const sessionId of journal.sessionsWithUnsent()) wake(sessionId);
    },
    down() {
      peer = undefined;
      inFlight = 0;
      turns.length = 0;
      for (const [sessionId, lane] of lanes) {
        lane.busy = false;
        clearTimeout(lane.held);
        lane.held = undefined;
        settle(lane, true);
        options.onCaughtUp(sessionId);
      }
    },
    appended(sessionId, lastSeq) {
      laneOf(sessionId, lastSeq).lastSeq = lastSeq;
      wake(sessionId);
    },
    isAhead(sessionId) {
      const lane = lanes.get(sessionId);
      return lane !== undefined && isUp(lane) && lane.lastSeq - lane.ackedSeq > AHEAD_EVENTS;
    },
    flushed,
    async flushedAll(withinMs) {
      await Promise.all(journal.sessionsWithUnsent().map((sessionId) => flushed(sessionId, withinMs)));
    },
  };
}

/** A frame that is too large would end the link, and again after each reconnect. @throws payload_too_large */
function requireFits(events: SessionEvent[]): void {
  // Only an event that goes alone can be larger than an append.
  if (events.length !== 1) return;
  const bytes = Buffer.byteLength(JSON.stringify(events));
  if (bytes <= LINK_MAX_FRAME - FRAME_ROOM) return;
  throw new KaiwuError('payload_too_large', `the event has ${bytes} bytes, more than the link carries`);
}

const toStandIn = ({ seq, at, type }: SessionEvent, { code, message }: KaiwuError): SessionEvent => ({
  seq,
  at,
  type: 'notice',
  text: `An event of type ${type} could not be recorded: ${message.slice(0, 1000)}`,
  data: { refused: type, code },
});

const isStandIn = (event: SessionEvent): boolean =>
  event.type === 'notice' && typeof event.data === 'object' && event.data !== null && 'refused' in event.data;
