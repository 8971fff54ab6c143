import { KaiwuError } from '../../core/errors.ts';
import type { Capabilities } from '../../core/catalog.ts';
import { ANSWER_KINDS, SEARCH_KINDS, type ShownWebProvider, type WebProvider } from '../../core/ports/web.ts';
import type { Capability } from '../../core/spec.ts';
import type { Sealer } from '../managed/seal.ts';
import type { AccountSettings } from '../store/account-settings.ts';
import type { KeyedProvider } from './adapter.ts';

const NAME = 'web_providers';
const MAX_PROVIDERS = 20;

interface Stored extends WebProvider {
  sealed?: string;
}

const KINDS: Record<Capability, readonly string[]> = {
  web_search: SEARCH_KINDS,
  web_answer: ANSWER_KINDS,
  searxng: ['searxng'],
};

const MISSING: Record<Capability, string> = {
  web_search: 'that searches the web',
  web_answer: 'that answers from the web',
  searxng: 'of the kind searxng',
};

export interface Providers extends Capabilities {
  open(): Promise<void>;
  shown(): ShownWebProvider[];
  /** With their keys, in the order in which they are asked. A key that no longer opens is as if it had never been given. */
  keyed(): Promise<KeyedProvider[]>;
  set(provider: WebProvider, key: string | undefined): Promise<void>;
  remove(id: string): Promise<void>;
}

/** @param fixed from the environment; asked first */
export function createProviders(options: {
  settings: AccountSettings;
  sealer: Sealer;
  fixed: WebProvider | undefined;
  onChange(): Promise<void>;
}): Providers {
  const { settings, sealer, onChange } = options;
  const fixed = options.fixed === undefined ? [] : [options.fixed];
  // Lists of tools ask at every turn and cannot wait for the store, so what it holds stands here too.
  let stored: Stored[] = [];
  let revision = 0;

  async function change(work: (before: Stored[]) => Stored[]): Promise<void> {
    stored = await settings.change<Stored[]>(NAME, (before = []) => work(before));
    revision += 1;
    await onChange();
  }

  function refuseFixed(id: string): void {
    if (!fixed.some((each) => each.id === id)) return;
    throw new KaiwuError('conflict', `The provider ${id} is set by the environment.`, {
      hint: 'Change the KAIWU_SEARXNG_ variables of the backend and restart it, or take another id.',
    });
  }

  const all = (): Stored[] => [...fixed, ...stored.filter(({ id }) => fixed.every((each) => each.id !== id))];

  return {
    revision: () => String(revision),
    lacks: (need) =>
      all().some(({ kind }) => KINDS[need].includes(kind))
        ? undefined
        : {
            reason: 'no_provider',
            remedy: `Set up a provider ${MISSING[need]}: \`kaiwu providers set\`, or Web search in the app.`,
          },
    async open() {
      stored = (await settings.read<Stored[]>(NAME)) ?? [];
    },
    shown: () =>
      all().map(({ sealed, ...provider }) => ({
        ...provider,
        has_key: sealed !== undefined,
        source: fixed.some(({ id }) => id === provider.id) ? 'environment' : 'settings',
      })),
    keyed: () =>
      Promise.all(
        all().map(async ({ sealed, ...provider }) => {
          const opened = sealed === undefined ? undefined : await sealer.open(sealed, toOwner(provider));
          const key = (opened as { api_key?: string } | undefined)?.api_key;
          return key === undefined ? provider : { ...provider, api_key: key };
        }),
      ),
    async set(provider, key) {
      refuseFixed(provider.id);
      const sealed = key ? await sealer.seal({ api_key: key }, toOwner(provider)) : undefined;
      await change((before) => {
        const old = before.find(({ id }) => id === provider.id);
        const kept = old !== undefined && toOwner(old) === toOwner(provider) ? old.sealed : undefined;
        const seal = sealed ?? kept;
        const next: Stored = seal === undefined ? provider : { ...provider, sealed: seal };
        if (old !== undefined) return before.map((each) => (each === old ? next : each));
        if (before.length < MAX_PROVIDERS) return [...before, next];
        throw new KaiwuError('conflict', `There are ${MAX_PROVIDERS} providers already.`, {
          hint: 'Remove one first.',
        });
      });
    },
    async remove(id) {
      refuseFixed(id);
      await change((before) => {
        if (before.some((each) => each.id === id)) return before.filter((each) => each.id !== id);
        throw unknownProvider(
          id,
          before.map((each) => each.id),
        );
      });
    },
  };
}

/** A key is for one address: after a change of that it does not open. */
const toOwner = ({ id, kind, base_url: base = '' }: WebProvider): string => `web ${id} ${kind} ${base}`;

export const unknownProvider = (id: string, ids: string[]): KaiwuError =>
  new KaiwuError('invalid_input', `There is no provider ${JSON.stringify(id.slice(0, 80))} for this.`, {
    hint: ids.length === 0 ? 'None is set up: `kaiwu providers set`.' : `There are: ${ids.join(', ')}.`,
  });
