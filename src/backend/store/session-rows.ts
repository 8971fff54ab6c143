import type { Kysely } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { Session } from '../../core/session.ts';
import { fromJson, withoutNulls } from './rows.ts';
import type { Schema } from './schema.ts';
import { fold } from './text.ts';

export const sessionNotFound = (sessionId: string): KaiwuError =>
  new KaiwuError('session_not_found', `No session ${JSON.stringify(sessionId.slice(0, 60))} is known.`, {
    hint: 'List the sessions to find its id.',
  });

export const sessionArchived = (sessionId: string, archivedAt: string): KaiwuError =>
  new KaiwuError('session_archived', `Session ${sessionId} is archived since ${archivedAt}.`, {
    hint: 'Unarchive it first, or start a new session.',
  });

/** Text of a session that people search for. */
export const searchTextOf = (title: string | null, directory: string): string =>
  fold(`${title ?? ''}\n${directory}`);

export const selectSessions = (db: Kysely<Schema>) =>
  db
    .selectFrom('sessions')
    .leftJoin('machines', 'machines.machineId', 'sessions.machineId')
    .select([
      'sessions.sessionId',
      'sessions.title',
      'sessions.titleSource',
      'sessions.status',
      'sessions.agentId',
      'sessions.machineId',
      'sessions.directory',
      'sessions.additionalDirectories',
      'sessions.permissionMode',
      'sessions.modelId',
      'sessions.configOptions',
      'sessions.tags',
      'sessions.environmentNames',
      'sessions.mcpServers',
      'sessions.worktree',
      'sessions.parentSessionId',
      'sessions.depth',
      'sessions.runId',
      'sessions.forkedFrom',
      'sessions.usage',
      'sessions.createdAt',
      'sessions.updatedAt',
      'sessions.archivedAt',
      'sessions.lastSeq',
      'sessions.reason',
      'sessions.stalledSince',
      'sessions.permission',
      'sessions.question',
      'machines.offlineSince as machineOfflineSince',
    ]);

export type SessionRow = Awaited<ReturnType<ReturnType<typeof selectSessions>['executeTakeFirstOrThrow']>>;

export const toSession = (row: SessionRow): Session =>
  withoutNulls({
    ...row,
    additionalDirectories: fromJson(row.additionalDirectories),
    configOptions: fromJson(row.configOptions),
    tags: fromJson(row.tags),
    environmentNames: fromJson(row.environmentNames),
    mcpServers: fromJson(row.mcpServers),
    worktree: fromJson(row.worktree),
    forkedFrom: fromJson(row.forkedFrom),
    usage: fromJson(row.usage),
    reason: fromJson(row.reason),
    permission: fromJson(row.permission),
    question: fromJson(row.question),
  });

/** @throws session_not_found */
export async function readSession(db: Kysely<Schema>, sessionId: string): Promise<Session> {
  const row = await selectSessions(db).where('sessions.sessionId', '=', sessionId).executeTakeFirst();
  if (row === undefined) throw sessionNotFound(sessionId);
  return toSession(row);
}
