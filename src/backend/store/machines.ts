import { type Kysely, type Selectable, sql, type SqlBool } from 'kysely';
import type { Machine } from '../../core/ports/fleet.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { toAgentInfo } from '../agent-info.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { MachineStore } from './store.ts';
import type { Writer } from './writer.ts';

/** In the JSON of what a start asked for; inside a text its quotes would be escaped. */
const ASKS_WORKTREE = '%"worktree":%';

export function createMachineStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): MachineStore {
  const now = () => runtime.now().toISOString();

  /** One that is online is alive right now. */
  const toMachine = (row: Selectable<Schema['machines']>, at: string): Omit<Machine, 'current'> => ({
    machineId: row.machineId,
    name: row.name,
    platform: row.platform,
    online: row.offlineSince === null,
    lastSeenAt: row.offlineSince === null ? at : row.lastSeenAt,
    daemonVersion: row.daemonVersion,
  });

  /** Marks machines that were online as offline from now. */
  const leave = (machineId?: string): Promise<void> =>
    writer.write(async (trx, announce) => {
      const at = now();
      let update = trx
        .updateTable('machines')
        .set({ offlineSince: at, lastSeenAt: at })
        .where('offlineSince', 'is', null);
      if (machineId !== undefined) update = update.where('machineId', '=', machineId);
      for (const left of await update.returning('machineId').execute()) {
        announce({ type: 'machine.changed', machineId: left.machineId, online: false });
      }
    });

  return {
    connect: (hello) =>
      writer.write(async (trx, announce) => {
        const row = {
          name: hello.machineName,
          platform: hello.platform,
          daemonVersion: hello.daemonVersion,
          agents: toJson(hello.agents),
          lastSeenAt: now(),
          offlineSince: null,
        };
        await trx
          .insertInto('machines')
          .values({ machineId: hello.machineId, ...row })
          .onConflict((conflict) => conflict.column('machineId').doUpdateSet(row))
          .execute();
        announce({ type: 'machine.changed', machineId: hello.machineId, online: true });
      }),

    disconnect: (machineId) => leave(machineId),
    disconnectAll: () => leave(),

    list: async () => {
      const rows = await db.selectFrom('machines').selectAll().execute();
      const at = now();
      const machines = rows.map((row) => toMachine(row, at));
      // Those that are online were all seen now; among equals the name decides.
      return machines.sort(
        (a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt) || a.name.localeCompare(b.name),
      );
    },

    get: async (machineId) => {
      const row = await db
        .selectFrom('machines')
        .selectAll()
        .where('machineId', '=', machineId)
        .executeTakeFirst();
      return row && { ...toMachine(row, now()), agents: fromJson(row.agents).map(toAgentInfo) };
    },

    setAgents: (machineId, agents) =>
      writer.write(async (trx, announce) => {
        const row = await trx
          .updateTable('machines')
          .set({ agents: toJson(agents) })
          .where('machineId', '=', machineId)
          .returning('offlineSince')
          .executeTakeFirst();
        if (row === undefined) return;
        announce({ type: 'machine.changed', machineId, online: row.offlineSince === null });
      }),

    recentPaths: async ({ machineId, limit }) => {
      let query = db
        .selectFrom('sessions')
        .select((eb) => [
          'directory as path',
          'machineId',
          eb.fn.max('updatedAt').as('lastUsedAt'),
          eb.fn.countAll<number>().as('sessions'),
        ])
        // A directory that no agent ever started in is none to suggest.
        .where((eb) => eb.or([eb('status', '!=', 'failed'), eb('lastSeq', '>', 1)]))
        // Nor is a worktree, which comes and goes with its session.
        .where(sql<SqlBool>`coalesce(${sql.ref('startOptions')}, '') not like ${ASKS_WORKTREE}`)
        .where('forkedFrom', 'is', null)
        // Nor what else worked in one.
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('sessions as made')
                .innerJoin('events', 'events.sessionId', 'made.sessionId')
                .select('made.sessionId')
                .whereRef('made.machineId', '=', 'sessions.machineId')
                .whereRef('made.directory', '=', 'sessions.directory')
                .where(sql<SqlBool>`coalesce(${sql.ref('made.startOptions')}, '') like ${ASKS_WORKTREE}`)
                .where('events.type', '=', sql.lit('session_started')),
            ),
          ),
        )
        .groupBy(['machineId', 'directory'])
        .orderBy('lastUsedAt', 'desc')
        .orderBy('path')
        .limit(limit);
      if (machineId !== undefined) query = query.where('machineId', '=', machineId);
      const rows = await query.execute();
      return rows.map((row) => ({ ...row, sessions: Number(row.sessions) }));
    },
  };
}
