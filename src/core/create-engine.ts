import type { Caller } from './call.ts';
import { createApprovals } from './approvals.ts';
import { createCatalog } from './catalog.ts';
import { createConfirmations } from './confirmation.ts';
import { createDiscovery } from './discovery.ts';
import type { ActionEngine, EngineOptions } from './engine.ts';
import { createGrants } from './grants.ts';
import type { Executor } from './executor.ts';
import { createExecutor } from './executor.ts';
import { createSteadyNow } from './steady-clock.ts';
import { createPipeline } from './pipeline.ts';
import { createPreviews } from './previews.ts';
import { resolvePolicy } from './policy.ts';
import type { ActionPorts } from './ports/index.ts';
import type { AnyAction } from './spec.ts';

/** Joins catalog, policy, approvals, discovery and the pipeline over the ports of a backend. */
export function createEngine(options: EngineOptions): ActionEngine {
  const catalog = createCatalog(options.actions, options.further, options.capabilities);
  const getPolicy = () => options.ports.policies.get();
  const { sessions } = options.ports;
  // The executor needs the ports that need the executor; the knot is tied by calling late.
  const perform: Executor['perform'] = (...call) => executor.perform(...call);
  const check: Executor['check'] = (...call) => executor.check(...call);
  const admit = async (action: AnyAction, caller: Caller) =>
    action.admit?.({ caller, sessionId: caller.scope.sessionId, ports });
  // Requests and grants wait by a clock that nobody sets.
  const runtime = { ...options.runtime, now: createSteadyNow(options.runtime) };
  const approvals = createApprovals({
    ...options,
    runtime,
    catalog,
    getPolicy,
    sessions,
    check,
    async look({ action, input, caller }) {
      await admit(action, caller);
      return action.precondition?.({ input, caller, ports });
    },
    runApproved: (...call) => executor.runApproved(...call),
  });
  const grants = createGrants({ ...options, runtime, catalog, getApproval: approvals.load });
  const previews = createPreviews({
    catalog,
    policies: options.ports.policies,
    audit: options.ports.audit,
    runtime: options.runtime,
  });
  const discovery = createDiscovery({ catalog, getPolicy, perform, check, grants, sessions, admit });
  const ports: ActionPorts = {
    ...options.ports,
    approvals,
    discovery,
    pipeline: createPipeline({ check, perform }),
    grants,
    previews,
  };
  const confirmations = createConfirmations({
    approvals,
    store: options.approvalStore,
    runtime,
    catalog,
    sessions,
  });
  const executor = createExecutor({
    ...options,
    catalog,
    ports,
    useGrant: grants.use,
    seeGrant: grants.see,
    confirmations,
    file: approvals.file,
    findFiled: approvals.findFiled,
  });

  return {
    execute: executor.execute,
    get manifests() {
      return catalog.manifests;
    },
    get revision() {
      return catalog.revision;
    },
    recover: approvals.recover,
    resume: approvals.resume,
    async catalog(surface, identity, backendVersion) {
      const policy = await getPolicy();
      const isKnown = await discovery.knownTo(identity.scope);
      const actions = catalog.manifests
        .filter((manifest) => manifest.surfaces[surface] !== undefined && isKnown(manifest))
        .map((manifest) => ({
          ...manifest,
          policy: resolvePolicy(policy, manifest, surface, identity.scope),
        }));
      return { surface, policyVersion: policy.version, backendVersion, actions };
    },
  };
}
