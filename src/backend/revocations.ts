/** What was taken back: one token, or a device with all its tokens. */
export type Revoked = { tokenId: string } | { deviceId: string };

/** Tells open streams and links that their credential is gone. */
export interface Revocations {
  announce(revoked: Revoked): void;
  /** Calls back once when the credential of this bearer is revoked. Answers the way to stop. */
  onRevoked(bearer: { tokenId: string; deviceId?: string }, listener: () => void): () => void;
}

export function createRevocations(): Revocations {
  const listeners = new Set<(revoked: Revoked) => void>();
  return {
    announce(revoked) {
      for (const listener of listeners) listener(revoked);
    },
    onRevoked(bearer, listener) {
      const entry = (revoked: Revoked) => {
        const hit =
          'tokenId' in revoked ? revoked.tokenId === bearer.tokenId : revoked.deviceId === bearer.deviceId;
        if (hit && listeners.delete(entry)) listener();
      };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}
