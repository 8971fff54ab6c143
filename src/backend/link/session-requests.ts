import type { BackendMethods } from '../../core/link.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { newToken, type RandomBytes } from '../secrets.ts';
import type { BackendStore } from '../store/store.ts';
import { sessionTokenSchema, tailSchema } from './frames.ts';
import { parseFrame } from './parse-frame.ts';

/** Most characters of a conversation in one answer, whatever is asked for. */
const TAIL_MAX_CHARS = 200_000;

/** What a daemon asks about one of its sessions. Each is refused for a session of another machine. */
export function createSessionRequests(options: {
  store: Pick<BackendStore, 'identity' | 'transcripts'>;
  runtime: Pick<Runtime, 'newId' | 'sha256'>;
  randomBytes: RandomBytes;
  /** Of the machine: what it was given goes with it. */
  deviceId: string | undefined;
  mustOwn(sessionId: string): Promise<void>;
}) {
  const { store, runtime, randomBytes, deviceId, mustOwn } = options;
  return {
    async token(params: unknown): Promise<BackendMethods['session.token']['result']> {
      const { sessionId } = parseFrame(sessionTokenSchema, params, 'session.token');
      await mustOwn(sessionId);
      const token = newToken(randomBytes);
      await store.identity.insertSessionToken(sessionId, {
        tokenId: runtime.newId('tok'),
        hash: runtime.sha256(token),
        kind: 'agent',
        name: `agent of ${sessionId}`,
        scope: { surfaces: ['agent'], sessionId },
        ...(deviceId === undefined ? {} : { deviceId }),
      });
      return { token };
    },

    async tail(params: unknown): Promise<BackendMethods['transcript.tail']['result']> {
      const { sessionId, maxChars } = parseFrame(tailSchema, params, 'transcript.tail');
      await mustOwn(sessionId);
      return store.transcripts.tail(sessionId, Math.min(maxChars, TAIL_MAX_CHARS));
    },
  };
}
