import { hostname } from 'node:os';
import * as z from 'zod';
import type { AuthClient } from '../client/auth-client.ts';
import type { Credentials } from '../local/credentials.ts';
import { readStateFile } from '../local/state-file.ts';
import type { App } from './app.ts';

const bootstrapSchema = z.looseObject({ secret: z.string().min(1), url: z.string() });

/** The one-time secret of the backend of this home, with which its owner signs in without a browser. */
export const readBootstrap = (app: App): Promise<z.output<typeof bootstrapSchema> | undefined> =>
  readStateFile(app.paths.backend.bootstrap, bootstrapSchema);

/** Exchanges a one-time secret for this machine's credentials. @throws not_authenticated | rate_limited */
export async function signInWithSecret(
  auth: AuthClient,
  secret: string,
  signal?: AbortSignal,
): Promise<Credentials> {
  const { token, deviceId, serverId } = await auth.bootstrap(secret, hostname(), signal);
  return { token, deviceId, serverId, url: auth.url };
}
