import { expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import { EMPTY_POLICY, resolvePolicy } from '../../src/core/policy.ts';
import { toListable, toTools } from '../../src/surfaces/mcp/tools.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

it('an agent starts with the discovery family, files and the title of its own session, and finds the rest', () => {
  const actions = createCatalog(registry)
    .manifests.filter(({ surfaces }) => surfaces.agent !== undefined)
    .map((manifest) => ({ ...manifest, policy: resolvePolicy(EMPTY_POLICY, manifest, 'agent') }));
  const tools = toTools(
    toListable({ surface: 'agent', policyVersion: 0, backendVersion: '0', actions }, silent),
    silent,
  );
  expect(tools.map(({ name }) => name)).toEqual([
    'action_execute',
    'action_options_resolve',
    'action_read',
    'action_spec_get',
    'action_spec_search',
    'send_file_to_user',
    'change_title',
  ]);
  expect(actions.map(({ id }) => id)).toContain('session.message.send');
  expect(actions.map(({ id }) => id)).not.toContain('approval.request.decide');
});
