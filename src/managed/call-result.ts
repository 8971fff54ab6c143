import { KaiwuError } from '../core/errors.ts';
import { MANAGED_LIMITS, type ToolCallResult } from '../core/managed/managed.ts';
import { isDeeper, MAX_MESSAGE_NESTING } from '../core/managed/nesting.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param what server and tool, for messages @throws tool_failed for what is no result; payload_too_large */
export function toCallResult(answer: unknown, what: string): ToolCallResult {
  if (!isObject(answer)) throw refuse(what, 'is no object');
  if (isDeeper(answer, MAX_MESSAGE_NESTING)) throw refuse(what, TOO_DEEP);
  const { content = [], structuredContent, isError, resultType } = answer;
  if (resultType === 'input_required') {
    throw new KaiwuError('tool_failed', `${what} asks for more input in mid-call, which Kaiwu cannot give.`, {
      hint: 'Give all that it may ask for as arguments, if it takes them.',
    });
  }
  if (!Array.isArray(content) || !content.every(isObject)) throw refuse(what, 'has no list of content');
  if (answer.content === undefined && structuredContent === undefined) throw refuse(what, 'has no content');
  const result: ToolCallResult = {
    content: [...content],
    ...(isObject(structuredContent) ? { structuredContent } : {}),
    ...(isError === true ? { isError } : {}),
  };
  // Some servers answer with a list or a plain value; hosts know objects alone there.
  if (structuredContent !== undefined && !isObject(structuredContent) && content.length === 0) {
    result.content.push({ type: 'text', text: JSON.stringify(structuredContent) });
  }
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes > MANAGED_LIMITS.result) throw tooLarge(what, `${bytes} bytes`);
  return result;
}

export const tooLarge = (what: string, size: string): KaiwuError =>
  new KaiwuError(
    'payload_too_large',
    `${what} answered ${size}; a result may have ${MANAGED_LIMITS.result} bytes. The call has run.`,
    { hint: 'Ask for less, for instance for fewer lines or a smaller page.' },
  );

const TOO_DEEP = `is nested deeper than ${MAX_MESSAGE_NESTING} levels`;

const refuse = (what: string, why: string): KaiwuError =>
  new KaiwuError('tool_failed', `reply: the answer of ${what} ${why}, so it is no result of a tool.`);
