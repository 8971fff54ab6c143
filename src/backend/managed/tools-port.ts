import { KaiwuError } from '../../core/errors.ts';
import { type ToolPin, toPin } from '../../core/managed/pins.ts';
import type { ToolEntry } from '../../core/managed/tool-states.ts';
import type { ManagedTool, ManagedToolsPort } from '../../core/ports/managed.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { toWords } from '../../core/search.ts';
import { type Book, type KnownServer, toNewPin } from './book.ts';
import type { Places } from './places.ts';
import { serverNotFound } from './requirements.ts';
import type { SharedWith } from './shared-with.ts';

export function createToolsPort(options: {
  book: Book;
  places: Pick<Places, 'call'>;
  sharedWith: SharedWith;
  runtime: Pick<Runtime, 'sha256'>;
}): ManagedToolsPort {
  const { book, places, sharedWith, runtime } = options;

  const notFound = (name: string, among = book.list()) =>
    serverNotFound(
      name,
      among.map(({ row }) => row.name),
    );

  return {
    async list({ server, state }, caller) {
      const servers = await sharedWith(caller);
      const named = servers.filter(
        ({ row }) => server === undefined || row.name.toLowerCase() === server.toLowerCase(),
      );
      if (server !== undefined && named.length === 0) throw notFound(server, servers);
      return named
        .flatMap(({ tools }) => tools)
        .filter((tool) => state === undefined || tool.state === state)
        .map(toTool);
    },

    async search(query, limit, caller) {
      const words = toWords(query);
      const servers = await sharedWith(caller);
      return servers
        .flatMap(({ tools }) => tools)
        .map((tool) => ({ tool, score: toScore(tool, words) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score || (a.tool.actionId < b.tool.actionId ? -1 : 1))
        .slice(0, limit)
        .map(({ tool }) => toTool(tool));
    },

    async accept(name, wanted) {
      const server = book.find(name);
      if (server === undefined) throw notFound(name);
      const seen = wanted.map(({ name: tool, digest }) => toSeen(server, tool, digest));
      const pins = seen.map(({ pin }) => toNewPin(pin));
      await book.accept(
        server.row.serverKey,
        pins,
        seen.map(({ entry }) => entry.actionId),
      );
      const accepted = new Set(pins.map(({ tool }) => tool));
      return (book.get(server.row.serverKey)?.tools ?? [])
        .filter(({ name }) => accepted.has(name))
        .map(toTool);
    },

    async call({ key, tool }, args, caller, signal) {
      const server = book.get(key);
      if (server === undefined) throw notFound(key);
      // The pipeline has refused what is not available. What became so since is refused here, before the server sees it.
      const entry = server.tools.find(({ name }) => name === tool);
      if (entry === undefined) throw toolNotFound(server.row.name, tool);
      if (entry.state !== 'available') throw notAvailable(entry);
      return places.call(server.row, tool, args, caller, signal);
    },
  };

  /** The definition that a person has seen, by its digest. @throws not_found | approval_stale */
  function toSeen(
    { row, tools }: KnownServer,
    tool: string,
    digest: string,
  ): { entry: ToolEntry; pin: ToolPin } {
    const entry = tools.find(({ name }) => name === tool);
    const listed = row.listing?.find(({ name }) => name === tool);
    if (entry === undefined || listed === undefined) throw toolNotFound(row.name, tool);
    const pin = toPin(listed, runtime.sha256);
    if (pin.digest === digest) return { entry, pin };
    throw new KaiwuError(
      'approval_stale',
      `${tool} of ${row.name} has changed since it was looked at. Nothing was accepted.`,
      {
        hint: 'List its tools again, look at the difference, and accept that.',
        details: { server: row.name, tool, digest: pin.digest, received: digest.slice(0, 80) },
      },
    );
  }
}

const toolNotFound = (server: string, tool: string) =>
  new KaiwuError(
    'not_found',
    `The MCP server ${server} lists no tool ${JSON.stringify(tool.slice(0, 80))}.`,
    {
      hint: 'List its tools.',
      details: { server, tool: tool.slice(0, 80) },
    },
  );

function notAvailable({ actionId, unavailable, state }: ToolEntry): KaiwuError {
  const { reason = state, remedy = '' } = unavailable ?? {};
  return new KaiwuError('action_disabled', `${actionId} cannot be called: ${reason}.`, {
    ...(remedy === '' ? {} : { hint: remedy }),
    details: { actionId, reason, remedy },
  });
}

/** A name says more of a tool than its description, and its server's name is one that all of its tools share. */
function toScore({ name, server, description }: ToolEntry, words: readonly string[]): number {
  const inName = new Set(toWords(name));
  const inServer = new Set(toWords(server));
  const inText = new Set(toWords(description));
  return words.reduce(
    (score, word) =>
      score + (inName.has(word) ? 4 : 0) + (inServer.has(word) ? 2 : 0) + (inText.has(word) ? 1 : 0),
    0,
  );
}

function toTool(entry: ToolEntry): ManagedTool {
  const { definition: _, portable: __, unavailable: ___, ...tool } = entry;
  return tool;
}
