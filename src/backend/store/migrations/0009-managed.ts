import type { Kysely } from 'kysely';
import type { MigrationDialect } from './migration-dialect.ts';

/** Managed MCP servers, what is sealed of them, their last listing, and the definitions of tools that people trust. */
export async function managed({ schema }: Kysely<unknown>, { text }: MigrationDialect): Promise<void> {
  await schema
    .createTable('managedServers')
    .addColumn('serverKey', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('nameFolded', text, (c) => c.notNull().unique())
    .addColumn('source', text, (c) => c.notNull())
    .addColumn('place', text, (c) => c.notNull())
    .addColumn('machineKey', text)
    .addColumn('config', text, (c) => c.notNull())
    .addColumn('secretNames', text, (c) => c.notNull())
    .addColumn('sealed', text)
    .addColumn('signIn', text)
    .addColumn('listing', text)
    .addColumn('trustedAt', text)
    .addColumn('createdAt', text, (c) => c.notNull())
    .addColumn('updatedAt', text, (c) => c.notNull())
    .execute();
  await schema
    .createTable('managedPins')
    .addColumn('serverKey', text, (c) => c.notNull())
    .addColumn('tool', text, (c) => c.notNull())
    .addColumn('digest', text, (c) => c.notNull())
    .addColumn('definition', text, (c) => c.notNull())
    .addColumn('acceptedAt', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('managedPinsKey', ['serverKey', 'tool'])
    .execute();
}
