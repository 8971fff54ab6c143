import type { FakeDaemonOptions } from './fake-daemon.ts';
import type { FakeDaemon } from './fake-daemon.ts';
import type { Json } from './json.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

export const fenced = (value: unknown): string =>
  `Here it is.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``;

export const PLAN = { summary: 'One step.', steps: [{ title: 'Do it' }], risks: [] };

export const TARGET = { kind: 'builtInAgent', agentId: 'demo' };

/** A world with a machine, a session and what tests of runs do in it. */
export interface RunsWorld {
  token: string;
  parent: string;
  daemon: FakeDaemon;
  start(more?: Record<string, Json>): Promise<Json>;
  run(runId: string): Promise<Json>;
  /** Resolves with the run once it is in that state. */
  reaches(runId: string, status: string): Promise<Json>;
  /** Requests that reached the machine for a session. */
  requests(method: string, sessionId?: string): Json[];
  /** Ends a turn that the agent holds: that of the message, or the newest. */
  finish(runId: string, reply: string, messageId?: string): Promise<void>;
}

export async function openRuns(world: World, options: Partial<FakeDaemonOptions> = {}): Promise<RunsWorld> {
  const { token } = await world.signIn();
  const daemon = await world.daemon(token, options);
  const { sessionId: parent } = await world.ok(token, 'session.spawn_new', {
    agentId: 'demo',
    directory: '/work/place',
  });
  const runs: RunsWorld = {
    token,
    parent,
    daemon,
    start: (more = {}) =>
      world.ok(token, 'execution.run.start', {
        sessionId: parent,
        intent: 'plan',
        backendTarget: TARGET,
        instructions: 'Plan it.',
        ...more,
      }),
    run: (runId) => world.ok(token, 'execution.run.get', { runId }),
    async reaches(runId, status) {
      for (;;) {
        const changed = until(
          world.store.feed,
          (entry) => entry.type === 'run.changed' && entry.runId === runId,
        );
        changed.catch(() => {});
        const run = await runs.run(runId);
        if (run.status === status) return run;
        await changed;
      }
    },
    requests: (method, sessionId) =>
      runs.daemon.requests
        .filter(
          (one) => one.method === method && (sessionId ?? one.params.sessionId) === one.params.sessionId,
        )
        .map(({ params }) => params),
    async finish(runId, reply, which) {
      const { runSessionId } = await runs.run(runId);
      const messageId = which ?? newestMessage(runs.daemon, runSessionId);
      await runs.daemon.record(
        runSessionId,
        { type: 'agent_text', messageId, block: 2, text: reply },
        { type: 'turn_ended', messageId, outcome: 'completed' },
      );
    },
  };
  return runs;
}

/** The message that a session's agent was told last. */
export function newestMessage(daemon: FakeDaemon, sessionId: string): string {
  const message = daemon.sessions.get(sessionId)?.messages.at(-1);
  if (message === undefined) throw new Error(`session ${sessionId} has no message`);
  return message.messageId;
}
