import { redactArguments } from '../../core/redact.ts';
import { MANAGED_TOOL_STATES, type ManagedServer } from '../../core/ports/managed.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import { createPaint } from '../../surfaces/cli/paint.ts';
import { renderOutput } from '../../surfaces/cli/render.ts';
import { shellQuote } from '../../surfaces/cli/shell-quote.ts';
import { createTimeFormat } from '../../surfaces/cli/values.ts';

/** What is told in words of its own, or is of no use to a person. */
const TOLD = ['name', 'url', 'command', 'args', 'where', 'enabled'];
const BAD = ['failed', 'degraded', 'sign_in_needed'];

/** One server for a person: how it does first, what is wrong with it, and what to type next. */
export function toServerText(server: ManagedServer, program: string, io: CliIo): string {
  const { name, status, where, source, reason, stderrTail, warnings, secrets, config } = server;
  const time = createTimeFormat(io.timeZone);
  const settings = Object.entries(config).filter(([field]) => !TOLD.includes(field));
  const fields = {
    server: name,
    status: `${status.replaceAll('_', ' ')} since ${time(server.since)}`,
    reason,
    nextTry: server.nextTryAt === undefined ? undefined : time(server.nextTryAt),
    runs: config.command === undefined ? undefined : toCommandText(config.command, config.args),
    address: config.url,
    on: source === 'file' ? `${where}, from its own file` : where,
    tools: toCountsText(server),
    speaks: toPeerText(server),
    secrets,
    settings: settings.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join('\n'),
    warnings: warnings.join('\n'),
    stderr: BAD.includes(status) ? stderrTail?.trim() : undefined,
  };
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const paint = createPaint(io.color);
  const shown = renderOutput(known, {}, { width: io.width, timeZone: io.timeZone, paint, program });
  // What is wrong with a whole file is told as a server that has no way to it; and only its file switches one of a file on.
  const isWholeFile = config.url === undefined && config.command === undefined;
  const isForItsFile = isWholeFile || (source === 'file' && status === 'disabled');
  return isForItsFile ? shown : `${shown}\n\n${paint.dim('next')}  ${program} mcp ${nextOf(server)}`;
}

const toCommandText = (command: string, args: string[] = []): string =>
  redactArguments([command, ...args])
    .map(shellQuote)
    .join(' ');

function toCountsText({ toolCounts }: ManagedServer): string {
  const counts = MANAGED_TOOL_STATES.filter((state) => state === 'available' || toolCounts[state] > 0);
  return counts.map((state) => `${toolCounts[state]} ${state.replaceAll('_', ' ')}`).join(', ');
}

function toPeerText({ serverInfo, protocolVersion, transport }: ManagedServer): string | undefined {
  if (protocolVersion === undefined) return undefined;
  const who = serverInfo === undefined ? '' : ` with ${serverInfo.name} ${serverInfo.version}`;
  return `MCP ${protocolVersion}${transport === undefined ? '' : ` over ${transport}`}${who}`;
}

function nextOf({ name, status, toolCounts }: ManagedServer): string {
  const word = shellQuote(name);
  if (status === 'sign_in_needed') return `servers login ${word}`;
  if (status === 'disabled') return `servers enable ${word}`;
  if (status === 'failed' || status === 'starting') return `servers test ${word}`;
  return toolCounts.held_back > 0 ? `servers review ${word}` : `tools list ${word}`;
}
