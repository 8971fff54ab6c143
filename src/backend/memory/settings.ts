import type { MemorySettings, ModelEndpoint, ShownEndpoint } from '../../core/ports/memory.ts';
import type { Sealer } from '../managed/seal.ts';
import type { AccountSettings } from '../store/account-settings.ts';

const NAME = 'memory';

/** Endpoints by the setting that they stand in. */
const ENDPOINTS = ['recall_model', 'embeddings'] as const;
type EndpointName = (typeof ENDPOINTS)[number];

interface StoredEndpoint extends Omit<ModelEndpoint, 'api_key'> {
  sealed?: string;
}

interface Stored {
  enabled: boolean;
  remember_turns: boolean;
  /** RFC 3339; turns that began before are not remembered. */
  turns_since?: string;
  recall_model?: StoredEndpoint;
  embeddings?: StoredEndpoint;
}

export type SettingsChange = {
  enabled?: boolean;
  remember_turns?: boolean;
} & Partial<Record<EndpointName, ModelEndpoint | null>>;

const DEFAULTS: Stored = { enabled: true, remember_turns: false };

export interface MemorySettingsStore {
  /** Whether it is on and what it remembers by itself, with no key opened. */
  switches(): Promise<Pick<Stored, 'enabled' | 'remember_turns' | 'turns_since'>>;
  /** Whole, with keys. One that no longer opens is as if it had never been given. */
  read(): Promise<MemorySettings & { turns_since?: string }>;
  change(change: SettingsChange, now: string): Promise<void>;
}

export function createMemorySettings(settings: AccountSettings, sealer: Sealer): MemorySettingsStore {
  const ofEndpoint = (name: EndpointName) => `memory ${name}`;

  async function open(
    name: EndpointName,
    stored: StoredEndpoint | undefined,
  ): Promise<ModelEndpoint | undefined> {
    if (stored === undefined) return undefined;
    const { sealed, ...shown } = stored;
    const secret = sealed === undefined ? undefined : await sealer.open(sealed, ofEndpoint(name));
    const key = (secret as { api_key?: string } | undefined)?.api_key;
    return key === undefined ? shown : { ...shown, api_key: key };
  }

  async function seal(
    name: EndpointName,
    { api_key: key, ...shown }: ModelEndpoint,
  ): Promise<StoredEndpoint> {
    return key === undefined || key === ''
      ? shown
      : { ...shown, sealed: await sealer.seal({ api_key: key }, ofEndpoint(name)) };
  }

  const load = async (): Promise<Stored> => (await settings.read<Stored>(NAME)) ?? DEFAULTS;

  return {
    switches: load,
    async read() {
      const stored = await load();
      const [recall, embeddings] = await Promise.all(ENDPOINTS.map((name) => open(name, stored[name])));
      const { enabled, remember_turns, turns_since } = stored;
      return {
        enabled,
        remember_turns,
        ...(turns_since === undefined ? {} : { turns_since }),
        ...(recall === undefined ? {} : { recall_model: recall }),
        ...(embeddings === undefined ? {} : { embeddings }),
      };
    },

    async change({ enabled, remember_turns: turns, ...endpoints }, now) {
      const sealed = await Promise.all(
        ENDPOINTS.map(async (name) => {
          const given = endpoints[name];
          return [name, given == null ? given : await seal(name, given)] as const;
        }),
      );
      await settings.change<Stored>(NAME, (before = DEFAULTS) => {
        const next: Stored = {
          ...before,
          ...(enabled === undefined ? {} : { enabled }),
          ...(turns === undefined ? {} : { remember_turns: turns }),
          // From then on, and not what was said before somebody asked for it.
          ...(turns === true && !before.remember_turns ? { turns_since: now } : {}),
        };
        for (const [name, endpoint] of sealed) {
          if (endpoint === null) delete next[name];
          else if (endpoint !== undefined) next[name] = endpoint;
        }
        return next;
      });
    },
  };
}

export const toShownEndpoint = ({ api_key: key, ...shown }: ModelEndpoint): ShownEndpoint => ({
  ...shown,
  has_key: key !== undefined,
});
