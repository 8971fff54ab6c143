import { KaiwuError } from '../../core/errors.ts';
import type { AgentFeature } from '../../core/agent.ts';

/** How a start or a prompt of an agent ended. */
export type Lesson =
  | { at: 'start'; features: AgentFeature[]; modeIds: string[] }
  | { at: 'prompt' }
  | { at: 'start' | 'prompt'; error: unknown };

interface Known {
  features?: AgentFeature[];
  /** Modes of its own that its sessions reported. */
  modeIds?: string[];
  /** Whether somebody is signed in, as it showed, and what the evidence was then. */
  signIn?: { proven: boolean; at: Lesson['at']; message?: string; mark: string };
}

/** What the agents of this machine have shown since the daemon started. */
export function createLessons() {
  const all = new Map<string, Known>();
  const of = (agentId: string): Known => all.get(agentId) ?? {};

  return {
    of,
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
        if (!(error instanceof KaiwuError) || error.code !== 'agent_needs_setup') return;
        all.set(agentId, { ...known, signIn: { proven: false, at, message: error.message, mark } });
        return;
      }
      const proves = at === 'prompt' || (startProves && known.signIn?.at !== 'prompt');
      all.set(agentId, {
        ...known,
        ...('features' in lesson ? { features: lesson.features, modeIds: lesson.modeIds } : {}),
        ...(proves ? { signIn: { proven: true, at, mark } } : {}),
      });
    },
  };
}
