import { toDigest } from './digest.ts';
import type { Runtime } from './ports/stores.ts';
import type { Session } from './session.ts';
import type { ActionManifest, Precondition } from './spec.ts';

/**
 * What a request was reviewed against beside its input: the action as it is declared, and the settings of the session that it
 * works on. A person who allowed a message to a read-only session has not allowed it to one that asks nobody.
 */
export function toBinding(
  runtime: Runtime,
  manifest: ActionManifest,
  session: Session | undefined,
  precondition: Precondition | undefined,
): string {
  const { id, effect, inputSchema, approvals } = manifest;
  return toDigest(runtime, {
    action: { id, effect, inputSchema, approvals },
    ...(precondition === undefined ? {} : { precondition }),
    session:
      session === undefined
        ? null
        : {
            sessionId: session.sessionId,
            agentId: session.agentId,
            machineId: session.machineId,
            directory: session.directory,
            permissionMode: session.permissionMode,
            archived: session.archivedAt !== undefined,
          },
  });
}

/** The same for what a person agreed to by voice: also the words that were heard, and whether the policy asks a person besides. */
export const toReadBinding = (
  runtime: Runtime,
  boundTo: string,
  heard: { words: string; asks: boolean },
): string => toDigest(runtime, { boundTo, heard });
