import type { Approval } from './approval.ts';
import type { Caller } from './call.ts';
import type { Catalog } from './catalog.ts';
import type { EngineOptions } from './engine.ts';
import { KaiwuError } from './errors.ts';
import type { ReadyCall } from './executor.ts';
import { type Grant, grantMismatch, isPlainPath, type Pin } from './grant.ts';
import { invalidInput } from './input.ts';
import type { ApprovalsPort, GrantsPort } from './ports/governance.ts';
import { redact } from './redact.ts';

export interface GrantsOptions extends Pick<EngineOptions, 'grants' | 'runtime'> {
  catalog: Catalog;
  /** As it is stored: a pin holds the value that was asked for. */
  getApproval: ApprovalsPort['get'];
}

/** Whether a grant lets a call run: the one that was used, or the one that came nearest and why it does not fit. */
export interface GrantAnswer {
  used?: Grant;
  nearest?: { grantId: string; reason: string };
}

export interface Grants extends GrantsPort {
  /** Takes one use of a grant that covers the call, if there is one. */
  use(ready: ReadyCall): Promise<GrantAnswer>;
  /** The same without taking it. */
  see(ready: ReadyCall): Promise<GrantAnswer>;
}

export function createGrants({ grants: store, runtime, catalog, getApproval }: GrantsOptions): Grants {
  /** The very call of the example: what it left out stays out. */
  function toExactPins({ actionId, input }: Approval): Record<string, Pin> {
    const { inputSchema } = catalog.manifest(actionId);
    const fields = new Set([...Object.keys(inputSchema.properties ?? {}), ...Object.keys(input)]);
    const pin = (field: string): Pin =>
      field in input ? { is: 'exact', value: input[field] } : { is: 'absent' };
    return Object.fromEntries([...fields].map((field) => [field, pin(field)]));
  }

  /** Where a tool takes fields that its schema does not list, those that the person did not see are not covered. */
  function findFurther({ pins }: Grant, call: { actionId: string; input: object }): string | undefined {
    const { openInput, inputSchema } = catalog.manifest(call.actionId);
    if (openInput !== true) return undefined;
    const known = inputSchema.properties ?? {};
    const further = Object.keys(call.input).find(
      (name) => !Object.hasOwn(known, name) && !Object.hasOwn(pins, name),
    );
    return further === undefined ? undefined : `${further} is a field that it does not name`;
  }

  async function weigh(call: { actionId: string; input: Record<string, unknown>; caller: Caller }) {
    const now = runtime.now().toISOString();
    const { surface, tokenId } = call.caller;
    const candidates = await store.candidates({ actionId: call.actionId, surface, tokenId }, now);
    return candidates.map((grant) => ({
      grant,
      reason: grantMismatch(grant, call, now) ?? findFurther(grant, call),
    }));
  }

  async function find({ action, input, caller }: ReadyCall, take: (grant: Grant) => Promise<boolean>) {
    const weighed = await weigh({ actionId: action.id, input, caller });
    for (const { grant, reason } of weighed) {
      if (reason === undefined && (await take(grant))) return { used: grant };
    }
    const [first] = weighed;
    if (first === undefined) return {};
    const reason = first.reason ?? `all of its ${first.grant.uses} uses are spent`;
    return { nearest: { grantId: first.grant.grantId, reason } };
  }

  return {
    use: (ready) => find(ready, ({ grantId }) => store.use(grantId, runtime.now().toISOString())),
    see: (ready) => find(ready, async () => true),
    async create({ artifactId, pins, onThisMachineOnly, hours, uses }, caller) {
      requirePerson(caller);
      const approval = await getApproval(artifactId);
      requireApproved(approval);
      for (const [field, kind] of Object.entries(pins ?? {}))
        requirePinnable(approval.actionId, field, kind, approval.input);
      const { surface, tokenId, machineId } = approval.requester;
      const now = runtime.now();
      const grant: Grant = {
        grantId: runtime.newId('grant'),
        artifactId,
        actionId: approval.actionId,
        surface,
        tokenId,
        ...(onThisMachineOnly && machineId !== undefined ? { machineId } : {}),
        pins: pins === undefined ? toExactPins(approval) : toPins(pins, approval.input),
        createdAt: now.toISOString(),
        createdBy: caller.client,
        expiresAt: new Date(now.getTime() + hours * 3_600_000).toISOString(),
        uses,
        usesLeft: uses,
      };
      await store.insert(grant);
      return toShown(grant);
    },
    async list(filter, page) {
      const { items, ...rest } = await store.list(filter, page);
      return { items: items.map(toShown), ...rest };
    },
    async revoke(grantId, caller) {
      requirePerson(caller);
      const revoked = await store.revoke(grantId, runtime.now().toISOString());
      if (revoked !== undefined) return toShown(revoked);
      throw new KaiwuError('not_found', `There is no grant ${JSON.stringify(grantId)}.`, {
        hint: 'List the grants to see their ids.',
      });
    },
    async explain(call) {
      return (await weigh(call)).map(({ grant, reason }) => ({
        grantId: grant.grantId,
        covers: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
      }));
    },
  };
}

/** A grant as it leaves the backend: what looks like a credential in a pin is hidden, and held to all the same. */
const toShown = (grant: Grant): Grant => redact(grant) as unknown as Grant;

/** Leave for later is given by a person, never by the one who asks. */
function requirePerson({ surface }: Caller): void {
  if (surface === 'app' || surface === 'cli') return;
  throw new KaiwuError(
    'permission_escalation_denied',
    `Grants are not given or taken from surface ${surface}.`,
    {
      hint: 'A person does that, in the app or with the command line.',
    },
  );
}

function requirePinnable(
  actionId: string,
  field: string,
  kind: Pin['is'],
  input: Record<string, unknown>,
): void {
  const value = input[field];
  const message =
    value === undefined
      ? `${field} is not in the approved input; fields: ${Object.keys(input).join(', ')}`
      : kind === 'prefix' && !(typeof value === 'string' && isPlainPath(value))
        ? `${field} is not an absolute path, so it cannot be held by a prefix`
        : undefined;
  if (message !== undefined) throw invalidInput(actionId, [{ path: `pins.${field}`, message }]);
}

const toPins = (
  pins: Record<string, 'exact' | 'prefix'>,
  input: Record<string, unknown>,
): Record<string, Pin> =>
  Object.fromEntries(
    Object.entries(pins).map(([field, kind]): [string, Pin] => [
      field,
      kind === 'exact' ? { is: 'exact', value: input[field] } : { is: 'prefix', value: String(input[field]) },
    ]),
  );

/** The example of a grant is a request that a person has said yes to. */
function requireApproved({ artifactId, status }: Approval): void {
  if (['approved', 'executing', 'succeeded', 'failed', 'unknown'].includes(status)) return;
  throw new KaiwuError(
    'conflict',
    `Approval ${artifactId} is ${status}; a grant is made from one that was approved.`,
    {
      hint: 'Approve it first.',
      details: { artifactId, status },
    },
  );
}
