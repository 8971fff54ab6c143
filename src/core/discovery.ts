import type { Caller } from './call.ts';
import { requireCallable, toRemedy } from './caller.ts';
import type { Catalog } from './catalog.ts';
import type { Executor } from './executor.ts';
import { SELF_DECISION_RULE } from './approval-errors.ts';
import { fromWireError, KaiwuError } from './errors.ts';
import { toListedTools } from './listed-tools.ts';
import { includesSession } from './managed/session-share.ts';
import { nearest } from './nearest.ts';
import { invalidInput } from './input.ts';
import type { PolicyDocument } from './policy.ts';
import { keysOf, resolvePolicy } from './policy.ts';
import type { DiscoveryPort, FieldOption } from './ports/discovery.ts';
import type { GrantsPort } from './ports/governance.ts';
import type { SessionsPort } from './ports/sessions.ts';
import { toRegistry } from './registry.ts';
import { createActionSearch } from './search.ts';
import type { ActionManifest, AnyAction, JsonSchema, OptionSource } from './spec.ts';
import { SURFACES } from './spec.ts';

export interface DiscoveryOptions {
  catalog: Catalog;
  getPolicy(): Promise<PolicyDocument>;
  perform: Executor['perform'];
  check: Executor['check'];
  grants: Pick<GrantsPort, 'explain'>;
  sessions: Pick<SessionsPort, 'get'>;
  /** Whether the caller's session may use the action at all. @throws action_disabled */
  admit(action: AnyAction, caller: Caller): Promise<void>;
}

export interface Discovery extends DiscoveryPort {
  /** What a caller is told of: an agent, and a token of one session, of no managed server that is not shared with that session. */
  knownTo(scope: Caller['scope'], surface?: Caller['surface']): Promise<(spec: ActionManifest) => boolean>;
}

/** What the catalog says of itself, as one caller may see it. */
export function createDiscovery({
  catalog,
  getPolicy,
  perform,
  check,
  grants,
  sessions,
  admit,
}: DiscoveryOptions): Discovery {
  let index = createActionSearch(catalog.manifests);
  let indexed = catalog.revision;
  /** Over the actions of now. */
  function search(query: string) {
    if (indexed !== catalog.revision) {
      indexed = catalog.revision;
      index = createActionSearch(catalog.manifests);
    }
    return index.search(query);
  }

  async function knownTo(
    { sessionId }: Caller['scope'],
    surface?: Caller['surface'],
  ): Promise<(spec: ActionManifest) => boolean> {
    if (surface !== 'agent' && sessionId === undefined) return () => true;
    const session = sessionId === undefined ? undefined : await sessions.get(sessionId);
    return ({ managed }) => managed === undefined || includesSession(managed, session);
  }

  async function fromSource(
    source: OptionSource,
    form: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
  ) {
    const { action, input } = await check(caller, source.action, fillIn(source.input ?? {}, form));
    const envelope = await perform(action, input, caller, signal);
    if (envelope.status === 'error') throw fromWireError(envelope.error);
    const rows = envelope.status === 'ok' ? (envelope.output[source.items] as Record<string, unknown>[]) : [];
    return rows.map((row) => toOption(row[source.value], row[source.label ?? source.value]));
  }

  return {
    knownTo,
    async search(query, { effect, limit }, caller) {
      const policy = await getPolicy();
      const isKnown = await knownTo(caller.scope, caller.surface);
      const found = search(query).map(({ id, score }) => {
        const spec = catalog.manifest(id);
        return { spec, score, answer: resolvePolicy(policy, spec, caller.surface, caller.scope) };
      });
      return found
        .filter(
          ({ spec }) =>
            !isWithheld(spec) && isKnown(spec) && (effect === undefined || spec.effect === effect),
        )
        .slice(0, limit)
        .map(({ spec, score, answer }) => ({
          id: spec.id,
          title: spec.title.en,
          summary: spec.summary,
          effect: spec.effect,
          exposure: answer.exposure.value,
          ...(answer.outcome !== 'refused' && answer.exposure.value === 'direct'
            ? { toolName: spec.toolName }
            : {}),
          score,
          ...(answer.reason === undefined ? {} : { blocked: `${answer.reason}: ${toRemedy(spec, answer)}` }),
        }));
    },
    async describe(actionId, caller) {
      const { action } = catalog.find(actionId);
      await admit(action, caller);
      const spec = catalog.manifest(action.id);
      const policy = resolvePolicy(await getPolicy(), spec, caller.surface, caller.scope);
      if (isWithheld(spec)) requireCallable(spec, policy);
      return { spec, policy };
    },
    async explain({ actionId, surface, input }, caller) {
      const { action } = catalog.find(actionId);
      await admit(action, caller);
      const policy = await getPolicy();
      const asked = surface === undefined ? SURFACES : [surface];
      // A token's scope narrows what its bearer may do, not what the policy says of other surfaces.
      const answers = asked.map((s) =>
        resolvePolicy(policy, action, s, s === caller.surface ? caller.scope : {}),
      );
      if (input === undefined) return { actionId: action.id, answers };
      const ready = await check({ ...caller, surface: surface ?? caller.surface }, action.id, input);
      const covering = await grants.explain({
        actionId: action.id,
        input: ready.input,
        caller: ready.caller,
      });
      return { actionId: action.id, answers, grants: covering };
    },
    async registry(surface, caller) {
      const isKnown = await knownTo(caller.scope, caller.surface);
      return toRegistry(
        catalog.manifests.filter((spec) => !isWithheld(spec) && isKnown(spec)),
        await getPolicy(),
        surface,
        caller,
      );
    },
    async tools(surface, caller) {
      const policy = await getPolicy();
      const scope = surface === caller.surface ? caller.scope : {};
      const entries = catalog.manifests.filter(await knownTo(caller.scope, caller.surface)).map((spec) => ({
        ...spec,
        policy: resolvePolicy(policy, spec, surface, scope),
      }));
      return toListedTools(entries);
    },
    requireRules(keys) {
      const known = [...new Set(catalog.actions.flatMap(({ id }) => keysOf(id))), SELF_DECISION_RULE];
      const wrong = keys.find((key) => !known.includes(key));
      if (wrong !== undefined) throw unknownRule(wrong, known);
    },
    async options({ actionId, field, input, query, limit }, caller, signal) {
      const { action } = catalog.find(actionId);
      await admit(action, caller);
      const spec = catalog.manifest(action.id);
      const schema = spec.inputSchema.properties?.[field];
      if (schema === undefined) throw unknownField(spec, field);
      const source = spec.hints?.[field]?.options;
      const all = source === undefined ? fromSchema(schema) : await fromSource(source, input, caller, signal);
      const wanted = query?.toLowerCase();
      return all
        .filter(
          ({ value, label }) => wanted === undefined || `${value} ${label}`.toLowerCase().includes(wanted),
        )
        .slice(0, limit);
    },
  };
}

/** What nobody may call now of a stranger's tools is not described either: a description is read, and may be obeyed. */
const isWithheld = ({ managed, unavailable }: ActionManifest): boolean =>
  managed !== undefined && unavailable !== undefined;

const toOption = (value: unknown, label: unknown): FieldOption => ({
  value: String(value),
  label: String(label ?? value),
});

function fromSchema(schema: JsonSchema): FieldOption[] {
  if (schema.type === 'boolean') return ['true', 'false'].map((value) => toOption(value, value));
  return (schema.enum ?? schema.items?.enum ?? []).map((value) => toOption(value, value));
}

/** `$field` takes a value of the form; what is not filled in yet is left out. */
function fillIn(template: Record<string, unknown>, form: Record<string, unknown>): Record<string, unknown> {
  const filled = Object.entries(template).map(([key, value]) => [
    key,
    typeof value === 'string' && value.startsWith('$') ? form[value.slice(1)] : value,
  ]);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function unknownField(spec: ActionManifest, field: string) {
  const fields = Object.keys(spec.inputSchema.properties ?? {}).join(', ');
  const message = `is not a field of ${spec.id}; fields: ${fields}`;
  return invalidInput(spec.id, [{ path: 'field', message, received: JSON.stringify(field) }]);
}

const unknownRule = (key: string, known: string[]) =>
  new KaiwuError(
    'invalid_input',
    `No action or family is called ${JSON.stringify(key.slice(0, 80))}, so a rule for it would change nothing.`,
    {
      hint: `Nearest: ${nearest(key, known, 3).join(', ')}. Nothing was changed.`,
      details: {
        issues: [{ path: 'rules', message: 'names no action or family', received: key.slice(0, 80) }],
      },
    },
  );
