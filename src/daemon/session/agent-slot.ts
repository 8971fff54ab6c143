import type { AgentListener, AgentSession } from '../acp/agent-session.ts';
import type { AgentExit } from '../acp/process.ts';
import type { SessionContext } from './context.ts';
import { openStored } from './open.ts';
import { storeSoon, untilStored } from './until-stored.ts';

/** Holds the agent of a session: none, one that starts, or one that is ready. */
export interface AgentSlot {
  readonly current: AgentSession | undefined;
  /** The one that is there, once a start that is under way has ended. */
  settled(): Promise<AgentSession | undefined>;
  /** Starts it unless it is there. @throws why it did not start */
  ready(): Promise<AgentSession>;
  /** Ends it, or its start. Resolves when nothing of it is left. */
  end(because: string): Promise<void>;
}

export function createAgentSlot(options: {
  context: SessionContext;
  sessionId: string;
  listener: Omit<AgentListener, 'onOutput'>;
  /** Stores why it did not start. Not called when `end` broke the start off. */
  onFailed(error: unknown): Promise<void>;
  /** Hears when it is gone, whoever ended it. */
  onExit(exit: AgentExit): void;
}): AgentSlot {
  const { context, sessionId } = options;
  const { journal } = context;
  let current: AgentSession | undefined;
  let gone: Promise<void> = Promise.resolve();
  let opening: { done: Promise<AgentSession>; abort: AbortController } | undefined;

  async function open(signal: AbortSignal): Promise<AgentSession> {
    const session = journal.session(sessionId);
    if (session === undefined) throw new Error(`session ${sessionId} is not in the journal`);
    const { agent, events, replay } = await openStored(context, session, options.listener, signal);
    await untilStored(context, () => {
      journal.append(sessionId, events);
      journal.setFeatures(sessionId, agent.features);
      if (agent.resumed !== 'loaded') journal.setReplay(sessionId, replay);
    });
    return agent;
  }

  async function openOnce(abort: AbortController): Promise<AgentSession> {
    try {
      const agent = await open(abort.signal);
      current = agent;
      gone = seeOff(agent);
      return agent;
    } catch (error) {
      noteGone();
      if (!abort.signal.aborted) await options.onFailed(error);
      throw error;
    } finally {
      opening = undefined;
    }
  }

  async function seeOff(agent: AgentSession): Promise<void> {
    const exit = await agent.exited;
    if (current === agent) current = undefined;
    options.onExit(exit);
    await agent.end();
    // What is known by now may be of one that comes after it.
    if (current !== undefined || opening !== undefined) return;
    noteGone();
    context.onSessionEnded(sessionId);
  }

  const noteGone = () => storeSoon(context, () => journal.setProcess(sessionId, undefined));

  return {
    get current() {
      return current;
    },
    async settled() {
      await opening?.done.catch(() => {});
      return current;
    },
    ready() {
      if (current !== undefined) return Promise.resolve(current);
      if (opening === undefined) {
        const abort = new AbortController();
        opening = { abort, done: openOnce(abort) };
      }
      return opening.done;
    },
    async end(because) {
      if (opening !== undefined) {
        const { abort, done } = opening;
        abort.abort();
        // A start that was too far to be broken off gives an agent, which is ended below.
        await done.catch(() => {});
      }
      await current?.end(because);
      await gone;
    },
  };
}
