import { KaiwuError } from '../../core/errors.ts';
import type { AgentFeature } from '../../core/session.ts';

/** How a start or a prompt of an agent ended. */
export type Lesson =
  | { at: 'start'; features: AgentFeature[]; modeIds: string[] }
  | { at: 'prompt' }
  | { at: 'start' | 'prompt'; error: unknown };

interface Known {
  features?: AgentFeature[];
  /** Modes of its own that its sessions reported. */
  modeIds?: string[];
  /** It said that nobody is signed in. */
  lacks?: { at: 'start' | 'prompt'; message: string };
}

/** What the agents of this machine have shown since the daemon started. */
export function createLessons() {
  const all = new Map<string, Known>();
  const of = (agentId: string): Known => all.get(agentId) ?? {};

  return {
    of,
    lacks: (agentId: string) => of(agentId).lacks,
    note(agentId: string, lesson: Lesson) {
      const known = of(agentId);
      if ('error' in lesson) {
        const { at, error } = lesson;
        const isSetup = error instanceof KaiwuError && error.code === 'agent_needs_setup';
        if (isSetup) all.set(agentId, { ...known, lacks: { at, message: error.message } });
        return;
      }
      // Some agents start without anybody signed in and say so at the first prompt: that they started proves nothing.
      const lacks = known.lacks?.at === 'prompt' && lesson.at === 'start' ? known.lacks : undefined;
      const { features, modeIds } = lesson.at === 'start' ? lesson : known;
      all.set(agentId, { features, modeIds, lacks });
    },
  };
}
