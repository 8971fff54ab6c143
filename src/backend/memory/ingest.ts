import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { MemoryPort } from '../../core/ports/memory.ts';
import type { AskMachine } from '../ports/ask-machine.ts';
import type { MemoryStore } from '../store/memory.ts';
import type { BackendStore } from '../store/store.ts';
import { MAX_PASSAGES, toPassages } from './passages.ts';

type Document = Parameters<MemoryPort['ingest']>[0];

/** Takes in a text, or a file of a session's workspace as the session's machine reads it. */
export function createIngest(options: {
  store: Pick<BackendStore, 'sessions'>;
  memory: MemoryStore;
  ask: AskMachine;
}): MemoryPort['ingest'] {
  const { store, memory, ask } = options;

  async function read({ sessionId, path, text, scope }: Document, caller: Caller) {
    if (path === undefined) return { text: text!, scope };
    if (sessionId === undefined) throw noSession();
    const { machineId, directory, agentId } = await store.sessions.get(sessionId);
    const file = await ask(machineId, 'session.read_text', { sessionId, path }, caller);
    const own = { workspace: directory, file_path: file.path, thread_id: sessionId, agent_id: agentId };
    return { text: file.text, scope: { ...own, ...scope } };
  }

  return async (document, caller) => {
    const { text, scope } = await read(document, caller);
    const passages = toPassages(text);
    if (passages.length > MAX_PASSAGES) throw tooLong(passages.length);
    const { file_path: file, workspace } = scope;
    const { items, replaced } = await memory.add(
      passages.map((passage) => ({
        ...scope,
        kind: 'document',
        text: passage,
        tags: document.tags,
        sources: [caller.client],
      })),
      file === undefined ? undefined : { file_path: file, ...(workspace === undefined ? {} : { workspace }) },
    );
    return { ids: items.map(({ id }) => id), replaced };
  };
}

const noSession = () =>
  new KaiwuError(
    'session_not_selected',
    'A path is one inside the workspace of a session, and no session is given.',
    {
      hint: 'Pass sessionId, or give the text itself.',
    },
  );

const tooLong = (count: number) =>
  new KaiwuError(
    'payload_too_large',
    `The text has ${count} passages; at most ${MAX_PASSAGES} are taken in at once.`,
    {
      hint: 'Give it in parts.',
    },
  );
