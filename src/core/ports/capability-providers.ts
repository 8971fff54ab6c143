/** A record of an outside provider, kept for governance: it installs and runs nothing. */
export interface CapabilityProvider {
  /** Normalised: small letters, digits and single hyphens. */
  id: string;
  displayName: string;
  sourceUri?: string;
  /** Of what was looked at when it was trusted, as its maker writes it: `sha256:...`. */
  sourceDigest?: string;
  trustState: TrustState;
  enabled: boolean;
  /** Whether it counts: enabled and trusted. What names a provider that does not count is not offered. */
  counts: boolean;
}

export const TRUST_STATES = ['trusted', 'untrusted', 'revoked'] as const;
export type TrustState = (typeof TRUST_STATES)[number];

export type ProviderRecord = Omit<CapabilityProvider, 'id' | 'counts'>;

/** Governance records of outside providers. Source: the account's settings. */
export interface CapabilityProvidersPort {
  /** By id. */
  list(): Promise<CapabilityProvider[]>;
  /** @throws invalid_input (an id without letters or digits) | conflict (an id that is taken, once both are normalised) */
  add(id: string, record: ProviderRecord): Promise<CapabilityProvider>;
  /** What is absent stays. @throws not_found */
  update(id: string, change: Partial<ProviderRecord>): Promise<CapabilityProvider>;
  /** @throws not_found */
  remove(id: string): Promise<void>;
}
