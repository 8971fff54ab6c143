import type { Identity } from '../../core/engine.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { IdentityStore } from '../store/store.ts';

/** A bearer whose token holds now. */
export interface Bearer extends Identity {
  /** RFC 3339; absent when it never ends. */
  expiresAt?: string;
}

/** Checks an `Authorization` header. @throws not_authenticated */
export type Authenticate = (authorization: string | undefined) => Promise<Bearer>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

export function createAuthenticate(options: {
  identity: Pick<IdentityStore, 'findToken' | 'touchToken'>;
  runtime: Pick<Runtime, 'now' | 'sha256'>;
  log: Logger;
}): Authenticate {
  const { identity, runtime, log } = options;
  return async (authorization) => {
    const secret = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
    if (secret === undefined) throw refuse('No bearer token was sent');
    const token = await identity.findToken(runtime.sha256(secret));
    if (token === undefined) throw refuse('The bearer token is not known');
    if (token.revokedAt !== undefined) throw refuse(`The bearer token was revoked at ${token.revokedAt}`);
    if (token.expiresAt !== undefined && isOver(token.expiresAt, runtime)) {
      throw refuse(`The bearer token expired at ${token.expiresAt}`);
    }
    // A note for people; a call does not fail for it.
    await identity
      .touchToken(token.tokenId)
      .catch((error) => log.warn({ error }, 'could not note a token use'));
    return {
      tokenId: token.tokenId,
      kind: token.kind,
      scope: token.scope,
      ...(token.deviceId === undefined ? {} : { deviceId: token.deviceId }),
      ...(token.expiresAt === undefined ? {} : { expiresAt: token.expiresAt }),
    };
  };
}

export const isOver = (expiresAt: string, runtime: Pick<Runtime, 'now'>): boolean =>
  Date.parse(expiresAt) <= runtime.now().getTime();

const refuse = (message: string) =>
  new KaiwuError('not_authenticated', `${message}.`, { hint: 'Run `kaiwu auth login` to sign in.' });
