/** A passkey (WebAuthn) that signs browsers in. */
export interface Passkey {
  passkeyId: string;
  name: string;
  /** Host name that browsers offer it at. */
  site: string;
  /** Whether it carries the key of the files, sealed by the passkey itself: only a sign-in with it opens that. */
  opensFiles: boolean;
  createdAt: string;
  lastUsedAt?: string;
  revokedAt?: string;
}

/** Passkeys of the account. They are made and used at doors of their own, since a browser's ceremony is no action. */
export interface PasskeysPort {
  /** Newest first, revoked ones too. */
  list(): Promise<Passkey[]>;
  /** @throws not_found, for a revoked one too */
  rename(passkeyId: string, name: string): Promise<Passkey>;
  /** Ends it, and every sign-in that was made with it. Idempotent. @throws not_found */
  revoke(passkeyId: string): Promise<{ passkey: Passkey; signedOut: number }>;
}
