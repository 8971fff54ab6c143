import type { Session, SessionEvent } from '../../../src/core/session.ts';
import { type PatientClient, readAll } from './torture-client.ts';

/** Calls whose effects can be counted afterwards, by the name that each carries. */
export interface Effects {
  /** The call that leaves one trace of `name`. */
  toCall(name: string): { actionId: string; input: object };
  /** How often each name is to be found. */
  count(): Promise<Map<string, number>>;
}

const tally = (names: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/** Tokens: work of the backend alone. */
export const tokenEffects = (client: PatientClient): Effects => ({
  toCall: (name) => ({ actionId: 'token.create', input: { name } }),
  async count() {
    const { tokens } = (await client.output('token.list')) as { tokens: { name: string }[] };
    return tally(tokens.map(({ name }) => name));
  },
});

/** Messages to one session of the demo agent: work of backend, link and daemon. */
export async function messageEffects(client: PatientClient, directory: string): Promise<Effects> {
  const { sessionId } = (await client.output('session.spawn_new', { agentId: 'demo', directory })) as Session;
  const toText = (name: string) => `say ${name}`;
  return {
    toCall: (name) => ({ actionId: 'session.message.send', input: { sessionId, message: toText(name) } }),
    async count() {
      await client.output('session.wait.idle', { sessionId, timeoutSeconds: 120 });
      const events: SessionEvent[] = [];
      for (;;) {
        const page = await client.output('session.transcript.get', {
          sessionId,
          after: events.at(-1)?.seq ?? 0,
          limit: 200,
        });
        if (page.events.length === 0) break;
        events.push(...(page.events as SessionEvent[]));
      }
      const turns = events.filter((event) => event.type === 'user_message');
      return tally(turns.map(({ text }) => text.slice(toText('').length)));
    },
  };
}

/** What the audit log says was run: how often each approval was carried out, whatever came of it. */
export async function countRuns(client: PatientClient, actionIds: string[]): Promise<Map<string, number>> {
  const ran: string[] = [];
  for (const actionId of actionIds) {
    const rows = await readAll<{ approvalId?: string; outcome: string }>(client, 'audit.list', 'rows', {
      actionId,
    });
    for (const { approvalId, outcome } of rows) {
      if (approvalId !== undefined && outcome !== 'approval_required') ran.push(approvalId);
    }
  }
  return tally(ran);
}
