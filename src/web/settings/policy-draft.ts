import { type Accessor, createMemo, createSignal } from 'solid-js';
import type { WireError } from '../../core/errors.ts';
import type { PolicyDocument, SurfaceRule } from '../../core/policy.ts';
import { diffPolicies, type PolicyDifference } from '../../core/policy-diff.ts';
import type { Surface } from '../../core/spec.ts';
import { createAsked } from '../api/asked.ts';
import { actions, must, type OutputOf } from '../api/call.ts';
import { createLive, toWire } from '../api/live.ts';

export type Replay = OutputOf<typeof actions.policy.preview>;
type Rules = PolicyDocument['rules'];

/** The policy as it is, and as somebody is about to make it. */
export interface PolicyDraft {
  saved: Accessor<PolicyDocument | undefined>;
  /** With the changes that are not saved. */
  drafted: Accessor<PolicyDocument | undefined>;
  changes: Accessor<PolicyDifference[]>;
  replay: Accessor<Replay | undefined>;
  error: Accessor<WireError | undefined>;
  /** What one rule shall say of a surface; nothing in it: the rule goes. */
  set(key: string, surface: Surface, rule: SurfaceRule): void;
  discard(): void;
  save(confirmUnattended: boolean): Promise<boolean>;
  canUndo: Accessor<boolean>;
  /** Puts the policy back as it was before the last save here. */
  undo(): Promise<void>;
}

export function createPolicyDraft(): PolicyDraft {
  const live = createLive(
    () => must(actions.policy.get({})),
    ({ type }) => type === 'policy.changed',
  );
  const saved = () => live.data();
  const [rules, setRules] = createSignal<Rules>();
  const [error, setError] = createSignal<WireError>();
  const [before, setBefore] = createSignal<Rules>();

  const drafted = createMemo(() => {
    const document = saved();
    return document === undefined ? undefined : { ...document, rules: rules() ?? document.rules };
  });
  const changes = createMemo(() => {
    const [from, to] = [saved(), drafted()];
    return from === undefined || to === undefined ? [] : diffPolicies(from, to);
  });
  const replay = createAsked(
    () => (changes().length === 0 ? undefined : drafted()?.rules),
    async (next) => {
      const outcome = await actions.policy.preview({ document: { rules: next } });
      return outcome.status === 'ok' ? outcome.output : undefined;
    },
  );

  async function replace(next: Rules, confirmUnattended: boolean): Promise<boolean> {
    const current = saved();
    if (current === undefined) return false;
    try {
      await must(
        actions.policy.import({
          document: { version: current.version, rules: next, settings: current.settings },
          confirmUnattended,
        }),
      );
      await live.refresh();
      setError(undefined);
      return true;
    } catch (failure) {
      setError(toWire(failure));
      await live.refresh();
      return false;
    }
  }

  return {
    saved,
    drafted,
    changes,
    replay: () => (changes().length === 0 ? undefined : replay.data()),
    error: () => error() ?? live.error(),
    set(key, surface, rule) {
      const all = drafted()?.rules ?? {};
      const { [surface]: _, ...others } = all[key] ?? {};
      const own = Object.keys(rule).length === 0 ? others : { ...others, [surface]: rule };
      const { [key]: __, ...rest } = all;
      setRules(Object.keys(own).length === 0 ? rest : { ...rest, [key]: own });
    },
    discard() {
      setRules(undefined);
      setError(undefined);
    },
    async save(confirmUnattended) {
      const [from, to] = [saved(), drafted()];
      if (from === undefined || to === undefined || !(await replace(to.rules, confirmUnattended)))
        return false;
      setBefore(from.rules);
      setRules(undefined);
      return true;
    },
    canUndo: () => before() !== undefined && changes().length === 0,
    async undo() {
      const back = before();
      // What was allowed before may be allowed again.
      if (back !== undefined && (await replace(back, true))) setBefore(undefined);
    },
  };
}
