import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

export async function start(db: Kysely<unknown>, { text, idType, id }: MigrationDialect): Promise<void> {
  const { schema } = db;

  await schema
    .createTable('sessions')
    .addColumn('sessionId', text, (c) => c.primaryKey())
    .addColumn('title', text)
    .addColumn('titleSource', text)
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('agentId', text, (c) => c.notNull())
    .addColumn('machineId', text, (c) => c.notNull())
    .addColumn('directory', text, (c) => c.notNull())
    .addColumn('permissionMode', text, (c) => c.notNull())
    .addColumn('modelId', text)
    .addColumn('models', text, (c) => c.notNull())
    .addColumn('reason', text)
    .addColumn('permission', text)
    .addColumn('searchText', text, (c) => c.notNull())
    .addColumn('lastSeq', 'integer', (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('updatedAt', text, (c) => c.notNull())
    .addColumn('archivedAt', text)
    .execute();
  await schema
    .createIndex('sessionsCurrent')
    .on('sessions')
    .columns(['createdAt', 'sessionId'])
    .where(sql.ref('archivedAt'), 'is', null)
    .execute();
  await schema.createIndex('sessionsAll').on('sessions').columns(['createdAt', 'sessionId']).execute();
  await schema
    .createIndex('sessionsOfMachine')
    .on('sessions')
    .columns(['machineId', 'createdAt', 'sessionId'])
    .execute();

  await schema
    .createTable('messages')
    .addColumn('ordinal', idType, id)
    .addColumn('messageId', text, (c) => c.notNull().unique())
    .addColumn('sessionId', text, (c) => c.notNull().references('sessions.sessionId'))
    .addColumn('text', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('overrides', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('deliveredAt', text)
    .addColumn('reply', text)
    .addColumn('reason', text)
    .execute();
  await schema
    .createIndex('messagesByStatus')
    .on('messages')
    .columns(['sessionId', 'status', 'ordinal'])
    .execute();

  await schema
    .createTable('events')
    .addColumn('sessionId', text, (c) => c.notNull().references('sessions.sessionId'))
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('at', text, (c) => c.notNull())
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('messageId', text)
    .addColumn('body', text, (c) => c.notNull())
    .addColumn('searchText', text)
    .addPrimaryKeyConstraint('eventsKey', ['sessionId', 'seq'])
    .execute();
  await schema
    .createIndex('eventsSearch')
    .on('events')
    .columns(['at', 'sessionId', 'seq'])
    .where(sql.ref('searchText'), 'is not', null)
    .execute();
  await schema
    .createIndex('eventsReply')
    .on('events')
    .columns(['sessionId', 'messageId', 'seq'])
    .where(sql.ref('type'), '=', sql.lit('agent_text'))
    .execute();

  await schema
    .createTable('machines')
    .addColumn('machineId', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('platform', text, (c) => c.notNull())
    .addColumn('daemonVersion', text, (c) => c.notNull())
    .addColumn('agents', text, (c) => c.notNull())
    .addColumn('lastSeenAt', text, (c) => c.notNull())
    .addColumn('offlineSince', text)
    .execute();

  await schema
    .createTable('approvals')
    .addColumn('artifactId', text, (c) => c.primaryKey())
    .addColumn('actionId', text, (c) => c.notNull())
    .addColumn('summary', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('input', text, (c) => c.notNull())
    .addColumn('inputDigest', text, (c) => c.notNull())
    .addColumn('requester', text, (c) => c.notNull())
    .addColumn('sessionId', text)
    .addColumn('reason', text)
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('expiresAt', text, (c) => c.notNull())
    .addColumn('decidedAt', text)
    .addColumn('decidedBy', text)
    .addColumn('decisionReason', text)
    .addColumn('result', text)
    .addColumn('lease', text)
    .execute();
  await schema.createIndex('approvalsAll').on('approvals').columns(['createdAt', 'artifactId']).execute();
  await schema
    .createIndex('approvalsByStatus')
    .on('approvals')
    .columns(['status', 'createdAt', 'artifactId'])
    .execute();

  await schema
    .createTable('idempotency')
    .addColumn('tokenId', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('digest', text, (c) => c.notNull())
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('envelope', text)
    .addColumn('createdAt', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotencyKey', ['tokenId', 'key'])
    .execute();

  await schema
    .createTable('policies')
    .addColumn('version', 'integer', (c) => c.primaryKey())
    .addColumn('rules', text, (c) => c.notNull())
    .addColumn('changedBy', text, (c) => c.notNull())
    .addColumn('changedAt', text, (c) => c.notNull())
    .execute();

  await schema
    .createTable('audit')
    .addColumn('auditId', idType, id)
    .addColumn('at', text, (c) => c.notNull())
    .addColumn('surface', text, (c) => c.notNull())
    .addColumn('client', text, (c) => c.notNull())
    .addColumn('tokenId', text, (c) => c.notNull())
    .addColumn('deviceId', text)
    .addColumn('sessionId', text)
    .addColumn('actionId', text, (c) => c.notNull())
    .addColumn('calledAs', text)
    .addColumn('effect', text)
    .addColumn('input', text, (c) => c.notNull())
    .addColumn('inputDigest', text, (c) => c.notNull())
    .addColumn('outcome', text, (c) => c.notNull())
    .addColumn('code', text)
    .addColumn('durationMs', 'double precision', (c) => c.notNull())
    .addColumn('approvalId', text)
    .execute();
  await schema.createIndex('auditByTime').on('audit').columns(['at', 'auditId']).execute();

  await schema
    .createTable('devices')
    .addColumn('deviceId', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('lastUsedAt', text)
    .addColumn('revokedAt', text)
    .execute();

  await schema
    .createTable('tokens')
    .addColumn('tokenId', text, (c) => c.primaryKey())
    .addColumn('hash', text, (c) => c.notNull().unique())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('scope', text, (c) => c.notNull())
    .addColumn('deviceId', text)
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('expiresAt', text)
    .addColumn('lastUsedAt', text)
    .addColumn('revokedAt', text)
    .execute();
  await schema.createIndex('tokensOfDevice').on('tokens').columns(['deviceId']).execute();

  await schema
    .createTable('deviceCodes')
    .addColumn('deviceCodeHash', text, (c) => c.primaryKey())
    .addColumn('userCode', text, (c) => c.notNull().unique())
    .addColumn('deviceName', text, (c) => c.notNull())
    .addColumn('expiresAt', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('polledAt', text)
    .execute();

  await schema
    .createTable('feed')
    .addColumn('feedId', idType, id)
    .addColumn('at', text, (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .execute();
}
