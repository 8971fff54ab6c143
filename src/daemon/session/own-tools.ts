import { SEND_FILE_TOOL } from '../../core/file.ts';
import { isObject, type Json } from '../acp/json.ts';

/** Name of our server in every session; agents put it beside the name of a tool. */
const SERVER = 'kaiwu';

/** How Kaiwu itself names such a call, once it is told from others. */
const OWN_TITLE = `${SERVER}.${SEND_FILE_TOOL}`;

/** As agents were seen to write it: Claude Code, OpenCode and Kilo Code, Gemini CLI. A bare name may be that of any server. */
const TITLES = new Set([
  OWN_TITLE,
  `mcp__${SERVER}__${SEND_FILE_TOOL}`,
  `${SERVER}_${SEND_FILE_TOOL}`,
  `${SEND_FILE_TOOL} (${SERVER} MCP Server)`,
]);

/** Codex calls such a tool a command, and says apart from the title which tool of which server it is. */
const isMcpCall = ({ rawInput, _meta }: Json): boolean =>
  isObject(_meta) &&
  _meta.is_mcp_tool_call === true &&
  isObject(rawInput) &&
  rawInput.server === SERVER &&
  rawInput.tool === SEND_FILE_TOOL;

/**
 * Whether a tool call sends a file through Kaiwu. By title only a call of kind `other`: the title of a command or an edit is
 * what a model wrote, and must neither hide nor allow what it does.
 */
export const isFileSending = (call: Json): boolean =>
  isMcpCall(call) ||
  (call.kind === 'other' && typeof call.title === 'string' && TITLES.has(call.title.trim()));

/**
 * The file's name is sealed for the account; an agent's own report of the call would store it in the clear beside that. What
 * tells the call from others stays, for the reports that follow and say less.
 */
export const withoutParticulars = (call: Json): Json => ({
  toolCallId: call.toolCallId,
  title: OWN_TITLE,
  kind: 'other',
  ...(call.status === undefined ? {} : { status: call.status }),
  ...(isMcpCall(call)
    ? { rawInput: { server: SERVER, tool: SEND_FILE_TOOL }, _meta: { is_mcp_tool_call: true } }
    : {}),
});
