import type { Logger } from '../../core/ports/host.ts';
import type { BackendStore } from '../store/store.ts';
import type { FinishedTurn } from '../store/memory.ts';
import type { NewMemory } from '../store/memory-rows.ts';
import { MAX_PASSAGES, toPassages } from './passages.ts';
import type { MemorySettingsStore } from './settings.ts';

/** Turns that are looked at in one go. */
const BATCH = 50;

/** Remembers finished turns, each once, where the account asked for it. */
export interface TurnMemory {
  /** Looks for turns that are not remembered yet. */
  look(): void;
  close(): Promise<void>;
}

export function createTurnMemory(options: {
  store: Pick<BackendStore, 'memory' | 'sessions' | 'feed'>;
  settings: MemorySettingsStore;
  log: Logger;
  onAdded(): void;
}): TurnMemory {
  const { store, log } = options;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;

  async function remember(): Promise<void> {
    const { enabled, remember_turns: wanted, turns_since: since } = await options.settings.switches();
    if (!enabled || !wanted || since === undefined) return;
    for (;;) {
      const turns = await store.memory.turnsToRemember(since, BATCH);
      for (const turn of turns) {
        if (closed) return;
        await store.memory.add(await toItems(turn));
      }
      if (turns.length > 0) options.onAdded();
      if (turns.length < BATCH) return;
    }
  }

  async function toItems({ sessionId, messageId, text, reply, endedAt }: FinishedTurn): Promise<NewMemory[]> {
    const { agentId, directory } = await store.sessions.get(sessionId);
    const passages = toPassages(`Asked: ${text}\n\nAnswered: ${reply}`).slice(0, MAX_PASSAGES);
    return passages.map((passage) => ({
      kind: 'conversation',
      text: passage,
      sources: [`agent:${agentId}`],
      tags: [],
      workspace: directory,
      thread_id: sessionId,
      agent_id: agentId,
      messageId,
      observed_at: endedAt,
    }));
  }

  function look(): void {
    if (closed) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    running = remember()
      .catch((error: unknown) => log.error({ error }, 'finished turns could not be remembered'))
      .finally(() => {
        running = undefined;
        if (!again) return;
        again = false;
        look();
      });
  }

  const unsubscribe = store.feed.subscribe((entry) => {
    if (entry.type === 'message.changed') look();
  });

  return {
    look,
    async close() {
      closed = true;
      unsubscribe();
      await running;
    },
  };
}
