import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import { fromCursor, toCursor } from '../../src/core/page.ts';
import { applyPatch, type PolicyDocument, resolvePolicy } from '../../src/core/policy.ts';
import { SURFACES } from '../../src/core/spec.ts';
import { toVisibleText } from '../../src/core/visible-text.ts';

const { manifests } = createCatalog(registry);
const keys = [...new Set(manifests.flatMap(({ id }) => [id, `${id.split('.')[0]}.*`]))];

const rule = fc.record(
  {
    enabled: fc.boolean(),
    approval: fc.boolean(),
    exposure: fc.constantFrom('direct' as const, 'discoverable' as const),
  },
  { requiredKeys: [] },
);
const rules = fc.dictionary(fc.constantFrom(...keys), fc.dictionary(fc.constantFrom(...SURFACES), rule), {
  maxKeys: 12,
});
const policies = rules.map((given): PolicyDocument => ({ version: 1, rules: given }));

describe('whatever the policy says', () => {
  it('no surface is added, no floor removed, no locked exposure changed, and a ban holds', () => {
    fc.assert(
      fc.property(
        policies,
        fc.constantFrom(...manifests),
        fc.constantFrom(...SURFACES),
        (policy, spec, surface) => {
          const answer = resolvePolicy(policy, spec, surface);
          const defaults = spec.surfaces[surface];
          const family = `${spec.id.split('.')[0]}.*`;
          const banned = [spec.id, family].some((key) => policy.rules[key]?.[surface]?.enabled === false);
          expect({
            added: defaults === undefined && answer.outcome !== 'refused',
            gated: spec.approvals === 'never' && answer.approval.value,
            exposed: defaults?.exposureLocked === true && answer.exposure.value !== defaults.exposure,
            unbanned: banned && answer.outcome !== 'refused',
          }).toEqual({ added: false, gated: false, exposed: false, unbanned: false });
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('a patch changes what it names and nothing else, and taking it back by null removes the rule', () => {
    fc.assert(
      fc.property(policies, fc.constantFrom(...keys), rule, (policy, key, change) => {
        const after = applyPatch(policy, { [key]: { cli: change } });
        for (const other of Object.keys(policy.rules).filter(
          (name) => name !== key && Object.keys(policy.rules[name]!).length > 0,
        )) {
          expect(after.rules[other]).toEqual(policy.rules[other]);
        }
        expect(applyPatch(after, { [key]: null }).rules[key]).toBeUndefined();
      }),
    );
  });
});

describe('any text and any key', () => {
  it('made visible holds nothing that moves a cursor, and is left alone the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const shown = toVisibleText(text, { singleLine: true });
        // oxlint-disable-next-line no-control-regex -- it is what must not be there
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
        expect(toVisibleText(shown, { singleLine: true })).toBe(shown);
      }),
    );
  });

  it('comes back from a cursor', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer(), (text, number) => {
        expect(fromCursor('list', toCursor('list', [text, number]), ['string', 'number'])).toEqual([
          text,
          number,
        ]);
      }),
    );
  });
});
