import * as z from 'zod';
import { time } from './_shapes.ts';

export const passkeyId = z.string().min(1).max(64).describe('Id of the passkey.');

export const passkey = z.object({
  passkeyId,
  name: z.string().describe('Name for people.'),
  site: z.string().describe('Host name that browsers offer it at.'),
  opensFiles: z.boolean().describe('Whether a sign-in with it also brings the key of the files.'),
  createdAt: time('When it was made'),
  lastUsedAt: time('When it last signed in').optional(),
  revokedAt: time('When it was revoked').optional(),
});
