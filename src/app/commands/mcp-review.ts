import { KaiwuError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import type { ManagedTool } from '../../core/ports/managed.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import { createPaint } from '../../surfaces/cli/paint.ts';
import { shellQuote } from '../../surfaces/cli/shell-quote.ts';
import { indent } from '../../surfaces/cli/table.ts';
import type { App } from '../app.ts';
import { ask, canAsk } from '../ask.ts';
import { programName } from '../program-name.ts';
import { call } from './catalog-calls.ts';
import { toLocalCommand } from './local-command.ts';

/** Characters of a digest that name it: who can find another definition with the same has other ways. */
const DIGEST = 16;
/** What a definition says is shown so far, characters. */
const MAX_TEXT = 4000;

/** `kaiwu mcp servers review`: what is held back, how it differs from what was accepted, and a yes to each. */
export function mcpReview(app: App, io: CliIo, catalog: readonly Command[]): Command {
  return toLocalCommand({
    path: 'mcp servers review',
    summary:
      'See which tools of an MCP server are held back, since they are new or changed, and accept them.',
    description:
      'Asks for each on a terminal. Elsewhere --accept TOOL@DIGEST says yes to exactly what was shown: a tool that has changed again meanwhile is not accepted.',
    fields: {
      server: { type: 'string', description: 'Name of the server.' },
      accept: {
        type: 'array',
        items: { type: 'string' },
        description: 'TOOL@DIGEST as this command shows it. May be repeated.',
      },
    },
    positionals: ['server'],
    required: ['server'],
    examples: [
      { title: 'Look, and be asked', input: { server: 'files' } },
      { title: 'Accept what was seen', input: { server: 'files', accept: ['read_file@0123456789abcdef'] } },
    ],
    errors: ['mcp_server_not_found', 'not_found', 'approval_stale', 'invalid_input', 'canceled'],
    talks: true,
    async run({ server, accept }, invocation) {
      const held = await heldBack(catalog, server as string, invocation);
      const chosen = accept === undefined ? undefined : (accept as string[]).map((one) => pick(held, one));
      const isShown = !invocation.flags.json && chosen === undefined;
      if (isShown) await write(io.stdout, toReviewText(server as string, held, programName(app), io));
      const yes = chosen ?? (isShown && canAsk(io) ? await askEach(held, io, invocation) : []);
      const tools = yes.map(({ name, digest }) => ({ name, digest }));
      if (tools.length > 0) await call(catalog, 'mcp tool accept', { server, tools }, invocation);
      const accepted = yes.map(({ name }) => name);
      return { server, accepted, heldBack: held.filter(({ name }) => !accepted.includes(name)) };
    },
    toText({ accepted, heldBack: left }) {
      const names = (accepted as string[]).map((name) => toVisibleText(name)).join(', ');
      const { length } = left as object[];
      if (names === '') return length === 0 ? '' : 'Nothing was accepted.';
      return `Accepted: ${names}.${length === 0 ? '' : ` Still held back: ${length}.`}`;
    },
  });
}

async function heldBack(catalog: readonly Command[], server: string, invocation: Invocation) {
  const tools: ManagedTool[] = [];
  let cursor: unknown;
  do {
    const input = { server, state: 'held_back', ...(cursor === undefined ? {} : { cursor }) };
    const page = await call(catalog, 'mcp tool list', input, invocation);
    tools.push(...(page['tools'] as ManagedTool[]));
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return tools;
}

/** The tool that `TOOL@DIGEST` names. Its server may have put an @ into its own name. */
function pick(held: readonly ManagedTool[], given: string): ManagedTool {
  const at = given.lastIndexOf('@');
  const [name, digest] = at < 0 ? [given, ''] : [given.slice(0, at), given.slice(at + 1)];
  const found = held.find((tool) => tool.name === name);
  if (found === undefined) {
    const names = held.map((tool) => tool.name);
    throw new KaiwuError('not_found', `No tool ${JSON.stringify(name.slice(0, 80))} is held back.`, {
      hint: names.length === 0 ? 'Nothing is.' : `Nearest: ${nearest(name, names, 3).join(', ')}.`,
    });
  }
  if (digest.length >= DIGEST && found.digest.startsWith(digest)) return found;
  const what = digest === '' ? 'no digest was given' : `its digest is ${found.digest.slice(0, DIGEST)} now`;
  throw new KaiwuError('approval_stale', `${toVisibleText(name)} was not accepted: ${what}.`, {
    hint: 'Look at it first without --accept; what is shown there has its digest beside it.',
  });
}

function toReviewText(server: string, held: readonly ManagedTool[], program: string, io: CliIo): string {
  if (held.length === 0) return `No tool of ${toVisibleText(server)} is held back.\n`;
  const { bold, dim } = createPaint(io.color);
  const show = (text: string | undefined, sign: string) =>
    text === undefined
      ? []
      : [indent(`${sign} ${toVisibleText(text.slice(0, MAX_TEXT)).replaceAll('\n', '\n  ')}`, 6, io.width)];
  const parts = held.map((tool) => {
    const { name, changes, says, effect, description, digest } = tool;
    // Of a new tool all that models will read, not its description alone.
    const shown = changes ?? says ?? [{ field: 'description', after: description }];
    const word = `${name}@${digest.slice(0, DIGEST)}`;
    return [
      `${bold(toVisibleText(name, { singleLine: true }))}  ${changes === undefined ? 'new' : 'changed'}, ${effect}`,
      ...shown.flatMap(({ field, before, after }) => [
        `    ${dim(toVisibleText(field, { singleLine: true }))}`,
        ...show(before, '-'),
        ...show(after, '+'),
      ]),
      `    ${dim(`${program} mcp servers review ${shellQuote(server)} --accept ${shellQuote(toVisibleText(word))}`)}`,
    ].join('\n');
  });
  return `${parts.join('\n\n')}\n\n`;
}

async function askEach(held: readonly ManagedTool[], io: CliIo, { signal }: Invocation) {
  const yes: ManagedTool[] = [];
  for (const tool of held) {
    const name = toVisibleText(tool.name, { singleLine: true });
    if (/^y(es)?$/i.test(await ask(`Accept ${name} as it is now? [y/N] `, io, signal))) yes.push(tool);
  }
  return yes;
}
