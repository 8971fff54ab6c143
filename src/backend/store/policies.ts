import type { Kysely, Transaction } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { PolicyDocument, PolicySettings } from '../../core/policy.ts';
import { applyPatch, EMPTY_POLICY } from '../../core/policy.ts';
import type { PoliciesPort } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Announce, Writer } from './writer.ts';

async function newest(db: Kysely<Schema>): Promise<PolicyDocument> {
  const row = await db
    .selectFrom('policies')
    .select(['version', 'rules', 'settings'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return EMPTY_POLICY;
  const settings = fromJson(row.settings);
  return { version: row.version, rules: fromJson(row.rules), ...(settings === null ? {} : { settings }) };
}

export function createPolicyStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): PoliciesPort {
  async function store(
    trx: Transaction<Schema>,
    announce: Announce,
    { version, rules, settings = {} }: PolicyDocument,
    by: string,
  ): Promise<PolicyDocument> {
    await trx
      .insertInto('policies')
      .values({
        version,
        rules: toJson(rules),
        settings: Object.keys(settings).length === 0 ? null : toJson(settings),
        changedBy: by,
        changedAt: runtime.now().toISOString(),
      })
      .execute();
    announce({ type: 'policy.changed', version });
    return newest(trx);
  }

  return {
    get: () => newest(db),

    set: (patch, version, by, settings = {}) =>
      writer.write(async (trx, announce) => {
        const current = await newest(trx);
        requireVersion(current, version);
        const next = { ...applyPatch(current, patch), settings: merge(current.settings, settings) };
        return store(trx, announce, next, by);
      }),

    replace: ({ rules, settings }, version, by) =>
      writer.write(async (trx, announce) => {
        requireVersion(await newest(trx), version);
        return store(trx, announce, { version: version + 1, rules, settings }, by);
      }),
  };
}

/** What is not given stays, `null` removes; settings of a newer Kaiwu are kept. */
function merge(current: PolicySettings = {}, change: Record<string, unknown>): PolicySettings {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

function requireVersion(current: PolicyDocument, version: number | undefined): void {
  if (version === undefined || version === current.version) return;
  const message = `The policy is at version ${current.version} now; the change was made for version ${version}.`;
  throw new KaiwuError('conflict', message, {
    hint: 'Read the policy again and repeat the change.',
    details: { version: current.version, received: version },
  });
}
