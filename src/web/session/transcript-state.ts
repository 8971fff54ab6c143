import { type Accessor, createMemo, createSignal, onCleanup } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import type { SessionEvent } from '../../core/session.ts';
import { actions, must } from '../api/call.ts';
import { onNews, showLive } from '../api/feed.ts';
import { RETRY_MS, toWire } from '../api/live.ts';
import { now, whenSeen } from '../browser/host.ts';
import { blockKey, type Entry, toEntries } from './entries.ts';
import { type LiveBlock, tailOf } from './streaming.ts';

const FIRST_PAGE = 120;
const PAGE = 200;

/** Milliseconds between two reads: while text streams it is stored many times a second, and shown as it streams. */
const APART_MS = 300;

/** Entries whose numbers fall into one stretch are drawn, and left out while far away, together. */
const STRETCH = 48;

export interface Stretch {
  id: number;
  entries: Entry[];
}

/** The transcript of one session: opens at its end, grows at both. */
export interface Transcript {
  entries: Accessor<ReadonlyMap<string, Entry>>;
  stretches: Accessor<Stretch[]>;
  /** Text of a block that is not stored yet. */
  liveTail(entry: { messageId: string; kind: string; block: number; text: string }): string;
  /** A block of which nothing is stored yet. */
  liveNew: Accessor<{ kind: 'text' | 'thought'; text: string } | undefined>;
  loaded: Accessor<boolean>;
  error: Accessor<WireError | undefined>;
  hasOlder: Accessor<boolean>;
  loadOlder(): Promise<void>;
}

export function createTranscript(sessionId: string): Transcript {
  const [events, setEvents] = createSignal<SessionEvent[]>([]);
  const [loaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<WireError>();
  const [beat, setBeat] = createSignal(0);
  const live = new Map<string, LiveBlock & { kind: 'text' | 'thought' }>();
  let newest = 0;
  let reading: Promise<void> | undefined;
  let again = false;
  let readingOlder = false;
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let readAt = 0;
  const seen = whenSeen(refresh);

  const entries = createMemo<Map<string, Entry>>((before) => toEntries(events(), before), new Map());
  const stretches = createMemo<Stretch[]>((before) => toStretches([...entries().values()], before), []);

  const ask = async (range: { after?: number; before?: number; limit: number }) => {
    const answer = await must(actions.session.transcript.get({ sessionId, ...range }));
    return { ...answer, events: answer.events as unknown as SessionEvent[] };
  };

  /** Reads what is newer than what is here, until nothing is. */
  async function catchUp(): Promise<void> {
    for (;;) {
      const isFirst = !loaded();
      const page = await ask(isFirst ? { limit: FIRST_PAGE } : { after: newest, limit: PAGE });
      const fresh = page.events.filter(({ seq }) => seq > newest);
      newest = fresh.at(-1)?.seq ?? newest;
      if (fresh.length > 0) setEvents([...events(), ...fresh]);
      forgetFinished(fresh);
      setLoaded(true);
      if (isFirst || fresh.length === 0 || newest >= page.lastSeq) return;
    }
  }

  function refresh(): void {
    if (reading !== undefined) {
      again = true;
      return;
    }
    reading = readAll().finally(() => {
      reading = undefined;
      if (!again) return;
      again = false;
      refresh();
    });
  }

  async function readAll(): Promise<void> {
    readAt = now();
    try {
      await catchUp();
      setError(undefined);
    } catch (failure) {
      const wire = toWire(failure);
      setError(wire);
      if (wire.retryable) timer = setTimeout(refresh, RETRY_MS);
    }
  }

  /** A block ends when something else of its turn is stored. */
  function forgetFinished(fresh: SessionEvent[]): void {
    for (const event of fresh) {
      if (!('messageId' in event) || event.messageId === undefined) continue;
      const isText = event.type === 'agent_text' || event.type === 'agent_thought';
      const own = isText
        ? blockKey(event.messageId, event.type === 'agent_text' ? 'text' : 'thought', event.block)
        : '';
      for (const key of live.keys())
        if (key !== own && key.includes(`:${event.messageId}:`)) live.delete(key);
    }
  }

  /** The first time at once, then not more often than they are apart. */
  function refreshSoon(): void {
    clearTimeout(timer);
    timer = setTimeout(seen.ask, Math.max(0, readAt + APART_MS - now()));
  }

  onCleanup(showLive(sessionId));
  onCleanup(
    onNews((news) => {
      if (news.type === 'break') live.clear();
      else if (news.type === 'gap') {
        live.clear();
        refresh();
      } else if (news.type === 'transcript.appended' && news.sessionId === sessionId) refreshSoon();
      else if (news.type === 'delta' && news.sessionId === sessionId) {
        const key = blockKey(news.messageId, news.kind, news.block);
        const block = live.get(key) ?? { pieces: '', kind: news.kind };
        block.pieces += news.text;
        live.set(key, block);
        // Drawn once a frame, however many pieces come.
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => setBeat(beat() + 1));
      }
    }),
  );
  onCleanup(() => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    seen.forget();
  });
  refresh();

  return {
    entries,
    stretches,
    liveTail({ messageId, kind, block, text }) {
      beat();
      const found = live.get(blockKey(messageId, kind, block));
      return found === undefined ? '' : tailOf(found, text);
    },
    liveNew: createMemo(() => {
      beat();
      const [key, block] = [...live].at(-1) ?? [];
      if (key === undefined || block === undefined || entries().has(key)) return undefined;
      return { kind: block.kind, text: block.pieces };
    }),
    loaded,
    error,
    hasOlder: () => (events()[0]?.seq ?? 1) > 1,
    async loadOlder() {
      const first = events()[0]?.seq ?? 1;
      if (readingOlder || first <= 1) return;
      readingOlder = true;
      try {
        const page = await ask({ before: first, limit: PAGE });
        setEvents([...page.events.filter(({ seq }) => seq < first), ...events()]);
      } catch (failure) {
        setError(toWire(failure));
      } finally {
        readingOlder = false;
      }
    },
  };
}

/** Stretches that hold the very same entries as before are the very same objects. */
function toStretches(entries: Entry[], before: Stretch[]): Stretch[] {
  const known = new Map(before.map((stretch) => [stretch.id, stretch]));
  const made = new Map<number, Entry[]>();
  for (const entry of entries) {
    const id = Math.floor(entry.seq / STRETCH);
    const own = made.get(id);
    if (own === undefined) made.set(id, [entry]);
    else own.push(entry);
  }
  return [...made].map(([id, own]) => {
    const old = known.get(id);
    const same = old?.entries.length === own.length && old.entries.every((entry, i) => entry === own[i]);
    return same ? old : { id, entries: own };
  });
}
