import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import type { NoteRevoked } from './writer.ts';

/** Takes back every token that agents of a session hold, in the transaction of what ends it. */
export async function revokeSessionTokens(
  trx: Kysely<Schema>,
  sessionId: string,
  at: string,
  noteRevoked: NoteRevoked,
): Promise<void> {
  const rows = await trx
    .updateTable('tokens')
    .set({ revokedAt: at })
    .where('sessionId', '=', sessionId)
    .where('revokedAt', 'is', null)
    .returning('tokenId')
    .execute();
  for (const { tokenId } of rows) noteRevoked(tokenId);
}
