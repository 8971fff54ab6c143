import type { Kysely } from 'kysely';
import { KaiwuError } from '../../core/errors.ts';
import type { PolicyDocument } from '../../core/policy.ts';
import { applyPatch, EMPTY_POLICY } from '../../core/policy.ts';
import type { PoliciesPort } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { fromJson, toJson } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './writer.ts';

async function newest(db: Kysely<Schema>): Promise<PolicyDocument> {
  const row = await db
    .selectFrom('policies')
    .select(['version', 'rules'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? EMPTY_POLICY : { version: row.version, rules: fromJson(row.rules) };
}

export function createPolicyStore(db: Kysely<Schema>, writer: Writer, runtime: Runtime): PoliciesPort {
  return {
    get: () => newest(db),

    set: (patch, version, by) =>
      writer.write(async (trx, announce) => {
        const current = await newest(trx);
        if (version !== undefined && version !== current.version) {
          const message = `The policy is at version ${current.version} now; the change was made for version ${version}.`;
          throw new KaiwuError('conflict', message, {
            hint: 'Read the policy again and repeat the change.',
            details: { version: current.version, received: version },
          });
        }
        const next = applyPatch(current, patch);
        await trx
          .insertInto('policies')
          .values({
            version: next.version,
            rules: toJson(next.rules),
            changedBy: by,
            changedAt: runtime.now().toISOString(),
          })
          .execute();
        announce({ type: 'policy.changed', version: next.version });
        return next;
      }),
  };
}
