import { SEND_FILE_TOOL } from '../../core/file.ts';
import type { Json } from '../acp/json.ts';

/** Ways in which agents write the tool of our server on their own tool calls: `mcp__kaiwu__x`, `kaiwu.x`, `x (kaiwu MCP Server)`. */
const TITLE = new RegExp(
  `^(?:Call |Tool: )?(?:mcp__)?(?:kaiwu(?:__|[./:_ ]))?${SEND_FILE_TOOL}(?: \\(kaiwu MCP Server\\))?$`,
);

/**
 * Whether a tool call sends a file through Kaiwu. Only a call of kind `other`: the title of a command or an edit is what a model
 * wrote, and must neither hide nor allow what it does.
 */
export const isFileSending = ({ title, kind }: Json): boolean =>
  kind === 'other' && typeof title === 'string' && TITLE.test(title.trim());

/** The file's name is sealed for the account; an agent's own report of the call would store it in the clear beside that. */
export const withoutParticulars = ({ toolCallId, kind, status }: Json): Json => ({
  toolCallId,
  title: SEND_FILE_TOOL,
  kind,
  ...(status === undefined ? {} : { status }),
});
