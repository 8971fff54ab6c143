import type { Kysely } from 'kysely';
import type { Runtime } from '../../core/ports/stores.ts';
import { createAccountSettings } from './account-settings.ts';
import { createEventAppender } from './append.ts';
import { createApprovalStore } from './approvals.ts';
import { createAuditStore } from './audit.ts';
import { createDeviceCodeStore } from './device-codes.ts';
import { createFeedStore } from './feed.ts';
import { createFileStore } from './files.ts';
import { createGrantStore } from './grants.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createIdentityStore } from './identity.ts';
import { createInboxStore } from './inbox.ts';
import { createMachineStore } from './machines.ts';
import { createManagedStore } from './managed.ts';
import { createMemoryStore } from './memory.ts';
import type { MemoryWords } from './memory-words.ts';
import { createMessageStore } from './messages.ts';
import { createPasskeyStore } from './passkeys.ts';
import { createPolicyStore } from './policies.ts';
import { createRunStore } from './runs.ts';
import type { Schema } from './schema.ts';
import { createSessionStore } from './sessions.ts';
import type { BackendStore } from './store.ts';
import { createTailReader } from './tail.ts';
import { createTranscripts } from './transcripts.ts';
import { createWriter } from './writer.ts';

/** The store over any database whose tables are up to date. Closing it closes the database. */
export function createStore(db: Kysely<Schema>, runtime: Runtime, words: MemoryWords): BackendStore {
  const writer = createWriter(db, runtime);
  return {
    sessions: createSessionStore(db, writer, runtime),
    messages: createMessageStore(db, writer, runtime),
    transcripts: {
      ...createTranscripts(db),
      ...createEventAppender(writer, runtime),
      ...createTailReader(db),
    },
    approvals: createApprovalStore(db, writer),
    grants: createGrantStore(db, runtime),
    idempotency: createIdempotencyStore(db, runtime),
    policies: createPolicyStore(db, writer, runtime),
    audit: createAuditStore(db, writer, runtime),
    machines: createMachineStore(db, writer, runtime),
    identity: createIdentityStore(db, writer, runtime),
    deviceCodes: createDeviceCodeStore(db, runtime),
    passkeys: createPasskeyStore(db, runtime),
    settings: createAccountSettings(db, writer, runtime),
    memory: createMemoryStore(db, writer, runtime, words),
    feed: createFeedStore(db, writer, runtime),
    inbox: createInboxStore(db),
    runs: createRunStore(db, writer, runtime),
    files: createFileStore(db, writer, runtime),
    managed: createManagedStore(db, runtime),
    close: async () => {
      await writer.settled();
      await db.destroy();
    },
  };
}
