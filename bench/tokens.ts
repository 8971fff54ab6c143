import { countTokens } from 'gpt-tokenizer';
import { registry } from '../src/app/registry.generated.ts';
import { createCatalog } from '../src/core/catalog.ts';
import type { PolicyDocument } from '../src/core/policy.ts';
import { EMPTY_POLICY, resolvePolicy } from '../src/core/policy.ts';
import { toListable, toTools } from '../src/surfaces/mcp/tools.ts';
import type { Row } from './stats.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** As an account has them that has set up no provider. */
const manifests = createCatalog(registry).manifests.filter(({ needs }) => needs === undefined);

/** Everything found by search; only the discovery family keeps tools of its own. */
export const LEANEST: PolicyDocument = {
  version: 1,
  rules: Object.fromEntries(
    manifests
      .filter(({ id }) => !id.startsWith('action.'))
      .map(({ id }) => [id, { mcp: { exposure: 'discoverable' as const } }]),
  ),
};

/** Tokens (o200k) of the tool list that a host gets under a policy. */
export function toolListTokens(policy: PolicyDocument): { tools: number; tokens: number } {
  const actions = manifests
    .filter((manifest) => manifest.surfaces.mcp !== undefined)
    .map((manifest) => ({ ...manifest, policy: resolvePolicy(policy, manifest, 'mcp') }));
  const tools = toTools(
    toListable({ surface: 'mcp', policyVersion: policy.version, backendVersion: '0', actions }, silent),
    silent,
  );
  return { tools: tools.length, tokens: countTokens(JSON.stringify({ tools })) };
}

export function measureTokens(): Row[] {
  const full = toolListTokens(EMPTY_POLICY);
  const lean = toolListTokens(LEANEST);
  return [
    {
      what: `tokens of the default \`tools/list\`, ${full.tools} tools`,
      ours: String(full.tokens),
      reference: `${lean.tokens}, the leanest policy, ${lean.tools} tools`,
      ratio: (full.tokens / lean.tokens).toFixed(1),
      target: 'does not grow unseen: pinned in test/catalog/tokens.test.ts',
    },
  ];
}
