import { KaiwuError } from '../../core/errors.ts';
import { MANAGED_LIMITS, type ToolDefinition } from '../../core/managed/managed.ts';
import { isDeeper, MAX_MESSAGE_NESTING } from '../../core/managed/nesting.ts';
import { toShortText, toVisibleText } from '../../core/visible-text.ts';

export interface Listing {
  tools: ToolDefinition[];
  /** What was left out or odd. */
  warnings: string[];
}

/** Longest cursor and longest name that are taken, characters. */
const MAX_CURSOR = 16_384;
const MAX_NAME = 256;

/** Reads all pages of a server's tools. @throws what `request` throws; mcp_server_unavailable for an answer that is no list */
export async function listTools(
  request: (params: Record<string, unknown>) => Promise<unknown>,
): Promise<Listing> {
  const tools = new Map<string, ToolDefinition>();
  const warnings: string[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  const warn = (text: string) => {
    if (warnings.length < MANAGED_LIMITS.warnings) warnings.push(text);
  };

  /** Answers whether there is room for more. */
  function take(entry: unknown): boolean {
    const tool = toDefinition(entry);
    if (typeof tool === 'string') {
      warn(tool);
      return true;
    }
    const size = Buffer.byteLength(JSON.stringify(tool));
    if (tools.has(tool.name)) {
      warn(`It lists the tool ${shown(tool.name)} more than once; the first counts.`);
    } else if (size > MANAGED_LIMITS.definition) {
      warn(
        `The tool ${shown(tool.name)} is left out: its definition has ${size} bytes, more than ${MANAGED_LIMITS.definition}.`,
      );
    } else if (tools.size >= MANAGED_LIMITS.tools) {
      warn(`It lists more than ${MANAGED_LIMITS.tools} tools; the rest is left out.`);
      return false;
    } else if (bytes + size > MANAGED_LIMITS.definitions) {
      warn(`Its definitions have more than ${MANAGED_LIMITS.definitions} bytes; the rest is left out.`);
      return false;
    } else {
      bytes += size;
      tools.set(tool.name, tool);
    }
    return true;
  }

  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const answer = await request(cursor === undefined ? {} : { cursor });
    const { tools: entries, nextCursor } = toPage(answer);
    if (!entries.every(take)) break;
    if (nextCursor === undefined) break;
    if (seen.has(nextCursor)) {
      warn('It gave the same cursor twice, so the listing ended there.');
      break;
    }
    if (page >= MANAGED_LIMITS.pages) {
      warn(`Its listing has more than ${MANAGED_LIMITS.pages} pages; the rest is left out.`);
      break;
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: [...tools.values()], warnings };
}

function toPage(answer: unknown): { tools: unknown[]; nextCursor?: string } {
  if (!isObject(answer) || !Array.isArray(answer.tools)) {
    throw new KaiwuError('mcp_server_unavailable', 'the answer to tools/list has no list of tools');
  }
  const { nextCursor } = answer;
  // An empty cursor is what some send for none; one of another kind leads nowhere.
  const isCursor = typeof nextCursor === 'string' && nextCursor !== '' && nextCursor.length <= MAX_CURSOR;
  return { tools: answer.tools, ...(isCursor ? { nextCursor } : {}) };
}

/** The definition, or why there is none. */
function toDefinition(entry: unknown): ToolDefinition | string {
  if (!isObject(entry)) return 'An entry of its list is no tool and is left out.';
  const { name, title, description, inputSchema, outputSchema, annotations } = entry;
  if (typeof name !== 'string' || name === '') return 'A tool without a name is left out.';
  if (name.length > MAX_NAME)
    return `The tool ${shown(name)} is left out: its name has ${name.length} characters.`;
  if (inputSchema !== undefined && !isObject(inputSchema)) {
    return `The tool ${shown(name)} is left out: its inputSchema is no object.`;
  }
  if (isDeeper(entry, MAX_MESSAGE_NESTING)) {
    return `The tool ${shown(name)} is left out: it is nested deeper than ${MAX_MESSAGE_NESTING} levels.`;
  }
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    // Servers of tools without arguments leave it out, though they must not.
    inputSchema: inputSchema ?? { type: 'object' },
    ...(isObject(outputSchema) ? { outputSchema } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
  };
}

const shown = (name: string): string =>
  JSON.stringify(toShortText(toVisibleText(name, { singleLine: true }), 80));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
