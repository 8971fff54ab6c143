import type { Kysely, Migration } from 'kysely';
import type { Runtime } from '../../../core/ports/stores.ts';
import { start } from './0001-start.ts';
import { governance } from './0002-governance.ts';
import { sessionTree } from './0003-session-tree.ts';
import { runs } from './0004-runs.ts';
import { readBack } from './0005-read-back.ts';
import { files } from './0006-files.ts';
import { passkeys } from './0007-passkeys.ts';
import { managed } from './0009-managed.ts';
import { sessionServers } from './0010-session-servers.ts';
import { accountSettings } from './0011-account-settings.ts';
import { memory } from './0012-memory.ts';
import type { MigrationDialect } from './migration-dialect.ts';

type Change = (db: Kysely<unknown>, dialect: MigrationDialect, runtime: Runtime) => Promise<void>;

/** Every change of the tables, in order, for all databases. A released one is never edited. */
const CHANGES: Record<string, Change> = {
  '0001-start': start,
  '0002-governance': governance,
  '0003-session-tree': sessionTree,
  '0004-runs': runs,
  '0005-read-back': readBack,
  '0006-files': files,
  '0007-passkeys': passkeys,
  '0009-managed': managed,
  '0010-session-servers': sessionServers,
  '0011-account-settings': accountSettings,
  '0012-memory': memory,
};

export const toMigrations = (dialect: MigrationDialect, runtime: Runtime): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(CHANGES).map(([name, change]) => [
      name,
      { up: (db: Kysely<unknown>) => change(db, dialect, runtime) },
    ]),
  );
