import { KaiwuError } from '../../core/errors.ts';
import type { AgentFeature } from '../../core/agent.ts';

/** How a start or a prompt of an agent ended. */
export type Lesson =
  | { at: 'start'; features: AgentFeature[]; modeIds: string[] }
  | { at: 'prompt' }
  | { at: 'start' | 'prompt'; error: unknown };

/** What an agent offered when it started. */
export interface Offer {
  /** Stands for the command that did. */
  program: string;
  features: AgentFeature[];
  /** Its own modes. */
  modeIds: string[];
}

interface Known {
  /** Whether somebody is signed in, as it showed, and what the evidence was then. */
  signIn?: { proven: boolean; at: Lesson['at']; message?: string; mark: string };
  /** Why its last start failed, and what the evidence was then. */
  failure?: { message: string; mark: string };
}

/** What the agents of this machine have shown since the daemon started. */
export function createLessons() {
  const all = new Map<string, Known>();
  const of = (agentId: string): Known => all.get(agentId) ?? {};

  const isCode = (error: unknown, code: string): error is KaiwuError =>
    error instanceof KaiwuError && error.code === code;

  return {
    /** Why its last start failed, if it did and the evidence is what it was. */
    failure(agentId: string, mark: string): string | undefined {
      const { failure } = of(agentId);
      return failure?.mark === mark ? failure.message : undefined;
    },
    /** What it showed of its sign-in, if the evidence is what it was. */
    signIn(agentId: string, mark: string) {
      const { signIn } = of(agentId);
      return signIn?.mark === mark ? signIn : undefined;
    },
    /** @param startProves somebody must be signed in for it to start */
    note(agentId: string, lesson: Lesson, { mark, startProves }: { mark: string; startProves: boolean }) {
      const known = of(agentId);
      const { at } = lesson;
      if ('error' in lesson) {
        const { error } = lesson;
        if (isCode(error, 'agent_needs_setup'))
          all.set(agentId, { ...known, signIn: { proven: false, at, message: error.message, mark } });
        else if (at === 'start' && isCode(error, 'agent_failed'))
          all.set(agentId, { ...known, failure: { message: error.message, mark } });
        return;
      }
      const proves = at === 'prompt' || (startProves && known.signIn?.at !== 'prompt');
      all.set(agentId, {
        ...known,
        ...(at === 'start' ? { failure: undefined } : {}),
        ...(proves ? { signIn: { proven: true, at, mark } } : {}),
      });
    },
  };
}
