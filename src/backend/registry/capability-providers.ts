import { KaiwuError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { toSlug } from '../../core/normalise-client.ts';
import type {
  CapabilityProvider,
  CapabilityProvidersPort,
  ProviderRecord,
} from '../../core/ports/capability-providers.ts';
import type { AccountSettings } from '../store/account-settings.ts';

const NAME = 'capability_providers';
const MAX_PROVIDERS = 200;

type Records = Record<string, ProviderRecord>;

/** @param onChange before the change is answered, so that it holds for the caller's very next call */
export function createCapabilityProviders(
  settings: AccountSettings,
  onChange: () => Promise<void>,
): CapabilityProvidersPort {
  async function change(work: (records: Records) => Records): Promise<Records> {
    const after = await settings.change<Records>(NAME, (before = {}) => work(before));
    await onChange();
    return after;
  }

  return {
    list: async () =>
      Object.entries((await settings.read<Records>(NAME)) ?? {})
        .map(([id, record]) => toProvider(id, record))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),

    async add(given, record) {
      const id = toProviderId(given);
      await change((records) => {
        if (Object.hasOwn(records, id)) throw taken(id, given, records[id]!);
        if (Object.keys(records).length >= MAX_PROVIDERS) throw tooMany();
        return { ...records, [id]: record };
      });
      return toProvider(id, record);
    },

    async update(given, changes) {
      const id = toProviderId(given);
      const records = await change((before) => ({
        ...before,
        [id]: { ...require(before, id), ...withoutUndefined(changes) },
      }));
      return toProvider(id, records[id]!);
    },

    async remove(given) {
      const id = toProviderId(given);
      await change((before) => {
        require(before, id);
        const { [id]: _, ...rest } = before;
        return rest;
      });
    },
  };
}

/** Whether a provider that something names counts. While none is recorded, nothing is hidden. */
export const isCounted = (name: string, providers: readonly CapabilityProvider[]): boolean =>
  providers.length === 0 || providers.some(({ id, counts }) => counts && id === toSlug(name));

const toProvider = (id: string, record: ProviderRecord): CapabilityProvider => ({
  id,
  ...record,
  counts: record.enabled && record.trustState === 'trusted',
});

const withoutUndefined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;

/** @throws invalid_input */
function toProviderId(given: string): string {
  const id = toSlug(given);
  if (id !== '') return id;
  const message = 'must have a letter a to z or a digit';
  throw new KaiwuError('invalid_input', `The id ${JSON.stringify(given.slice(0, 60))} ${message}.`, {
    hint: 'For example acme-tools.',
    details: { issues: [{ path: 'id', message, received: given.slice(0, 60) }] },
  });
}

/** @throws not_found */
function require(records: Records, id: string): ProviderRecord {
  const record = Object.hasOwn(records, id) ? records[id] : undefined;
  if (record !== undefined) return record;
  const near = nearest(id, Object.keys(records), 3).join(', ');
  throw new KaiwuError('not_found', `No capability provider is called ${JSON.stringify(id)}.`, {
    hint: near === '' ? 'None is recorded yet.' : `Nearest: ${near}.`,
  });
}

const taken = (id: string, given: string, { displayName }: ProviderRecord) =>
  new KaiwuError(
    'conflict',
    `${JSON.stringify(given.slice(0, 60))} is ${id} once normalised, and ${id} (${displayName}) is recorded already.`,
    { hint: 'Update that one, or give another id.', details: { id } },
  );

const tooMany = () =>
  new KaiwuError(
    'conflict',
    `There are ${MAX_PROVIDERS} capability providers already, the most that are kept.`,
    {
      hint: 'Remove one that is no longer used.',
    },
  );
