import { KaiwuError } from '../src/core/errors.ts';
import type { Caller } from '../src/core/call.ts';
import type { ActionPorts } from '../src/core/ports/index.ts';

/** What hosts read by address. Everything but the texts is another read of the catalog, under that one's own policy. */

interface Reading {
  caller: Caller;
  ports: ActionPorts;
  signal: AbortSignal;
}

export interface ResourceRow {
  uri: string;
  name: string;
  title: string;
  description?: string;
  mimeType: string;
}

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';
const ROOT = 'kaiwu://';

/** Sessions that a list names; others are read by their address. */
const LISTED_SESSIONS = 50;

/** Events of a transcript that is read whole: the newest ones. */
const TRANSCRIPT_EVENTS = 200;

export const TEMPLATES = [
  {
    uriTemplate: `${ROOT}sessions/{sessionId}`,
    name: 'session',
    title: 'A session',
    description: 'What a session is doing now.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: `${ROOT}sessions/{sessionId}/transcript`,
    name: 'transcript',
    title: 'Transcript of a session',
    description: `Its newest ${TRANSCRIPT_EVENTS} events.`,
    mimeType: JSON_TYPE,
  },
];

/** One kind of address: how it reads, and what the parts in brackets of its pattern stand for. */
interface Kind {
  pattern: RegExp;
  mimeType: string;
  /** Entry of the event stream that tells of changes of a session's own. */
  event?: (typeof EVENTS)[number];
  read(parts: string[], reading: Reading): Promise<string | Record<string, unknown> | undefined>;
}

export const EVENTS = ['session.changed', 'transcript.appended'] as const;

const KINDS: Kind[] = [
  {
    pattern: /^prompts\/([a-z]+)$/,
    mimeType: MARKDOWN,
    read: async ([name], { ports }) => ports.texts.about(name!),
  },
  {
    pattern: /^prompts\/agents\/([a-z0-9-]+)$/,
    mimeType: MARKDOWN,
    read: async ([id], { ports }) => (await ports.subagents.list()).find((each) => each.id === id)?.prompt,
  },
  {
    pattern: /^catalog$/,
    mimeType: JSON_TYPE,
    async read(_, { caller, ports, signal }) {
      const { tools } = await ports.pipeline.read('tool.registry.list', {}, caller, signal);
      const rows = tools as Record<string, unknown>[];
      return JSON.stringify(rows.map(({ inputSchema: _i, outputSchema: _o, ...row }) => row));
    },
  },
  {
    pattern: /^sessions\/([^/]+)$/,
    mimeType: JSON_TYPE,
    event: 'session.changed',
    read: ([sessionId], { caller, ports, signal }) =>
      ports.pipeline.read('session.status.get', { sessionId }, caller, signal),
  },
  {
    pattern: /^sessions\/([^/]+)\/transcript$/,
    mimeType: JSON_TYPE,
    event: 'transcript.appended',
    read: ([sessionId], { caller, ports, signal }) =>
      ports.pipeline.read('session.transcript.get', { sessionId, limit: TRANSCRIPT_EVENTS }, caller, signal),
  },
];

/** @throws invalid_input for a blank address; not_found for one that is unknown; what the read itself is refused with */
export async function readResource(uri: string, reading: Reading) {
  const path = uri.startsWith(ROOT) ? uri.slice(ROOT.length) : undefined;
  for (const { pattern, mimeType, event, read } of path === undefined ? [] : KINDS) {
    const parts = pattern.exec(path!)?.slice(1);
    const value = parts && (await read(parts, reading));
    if (value === undefined) continue;
    if (typeof value === 'string') return { uri, mimeType, text: value };
    const text = JSON.stringify(value);
    const changes = event && { event, sessionId: String(value['sessionId']) };
    return { uri, mimeType, text, ...(changes === undefined ? {} : { changes }) };
  }
  throw new KaiwuError('not_found', `There is no resource ${JSON.stringify(uri.slice(0, 200))}.`, {
    hint: 'List the resources and the templates to see which there are.',
    details: { uri: uri.slice(0, 200) },
  });
}

export async function listResources({ caller, ports, signal }: Reading): Promise<ResourceRow[]> {
  const subagents = await ports.subagents.list();
  return [
    ...ports.texts.aboutNames().map((name) => ({
      uri: `${ROOT}prompts/${name}`,
      name,
      title: titleOf(ports.texts.about(name) ?? name),
      mimeType: MARKDOWN,
    })),
    ...subagents.map(({ id, name, description }) => ({
      uri: `${ROOT}prompts/agents/${id}`,
      name: `agents/${id}`,
      title: name,
      description,
      mimeType: MARKDOWN,
    })),
    {
      uri: `${ROOT}catalog`,
      name: 'catalog',
      title: 'Catalog',
      description: 'Every tool, with what may be called from here.',
      mimeType: JSON_TYPE,
    },
    ...(await listSessions({ caller, ports, signal })),
  ];
}

/** A list without sessions is a list: who may not see them still reads the rest. An agent's own comes before those below it. */
async function listSessions({ caller, ports, signal }: Reading): Promise<ResourceRow[]> {
  const ask = (actionId: string, input: Record<string, unknown>) =>
    ports.pipeline.read(actionId, input, caller, signal).catch((error: unknown) => {
      if (error instanceof KaiwuError) return undefined;
      throw error;
    });
  const { sessionId } = caller.scope;
  const [own, listed] = await Promise.all([
    sessionId === undefined ? undefined : ask('session.status.get', { sessionId }),
    ask('session.list', { limit: LISTED_SESSIONS }),
  ]);
  const below = (listed?.['sessions'] ?? []) as Record<string, unknown>[];
  return [...(own === undefined ? [] : [own]), ...below].map((session) => toSessionRow(session as never));
}

const toSessionRow = (session: {
  sessionId: string;
  title?: string;
  status: string;
  agentId: string;
}): ResourceRow => ({
  uri: `${ROOT}sessions/${session.sessionId}`,
  name: session.sessionId,
  title: session.title ?? session.sessionId,
  description: `${session.agentId}, ${session.status}`,
  mimeType: JSON_TYPE,
});

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? text.slice(0, 60);
