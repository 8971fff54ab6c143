import * as z from 'zod';
import { TRUST_STATES } from '../src/core/ports/capability-providers.ts';

export const providerId = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('Id; small letters, digits and hyphens are kept, all else becomes one hyphen.');

export const record = {
  displayName: z.string().trim().min(1).max(200).describe('Name for people.'),
  sourceUri: z.string().max(2000).optional().describe('Where it comes from.'),
  sourceDigest: z
    .string()
    .max(200)
    .optional()
    .describe('Digest of what was looked at, for example sha256:...'),
  trustState: z
    .enum(TRUST_STATES)
    .default('untrusted')
    .describe('Whether a person trusts it. Default untrusted.'),
  enabled: z.boolean().default(true).describe('Default true.'),
};

export const capabilityProvider = z.object({
  id: z.string().describe('Normalised id.'),
  displayName: z.string().describe('Name for people.'),
  sourceUri: z.string().optional().describe('Where it comes from.'),
  sourceDigest: z.string().optional().describe('Digest of what was looked at.'),
  trustState: z.enum(TRUST_STATES).describe('Whether a person trusts it.'),
  enabled: z.boolean().describe('Whether it is on.'),
  counts: z.boolean().describe('Enabled and trusted.'),
});
