import { toIssueText } from '../../../core/issue-text.ts';
import type { RunIntent } from '../../../core/run.ts';
import type { RunOutcome } from '../../store/run-store.ts';
import { RESULT_SHAPES } from './result-shapes.ts';

/** Most characters of an agent's own words that a run keeps. */
const RAW_MAX = 100_000;

/** Most characters of JSON that are taken for a result. */
const JSON_MAX = 500_000;

/** Fenced blocks that are looked at, from the last one on. */
const BLOCKS_MAX = 5;

/** Most characters of a sentence that tells where an answer strays. */
const PROBLEM_MAX = 300;

/**
 * The result in an agent's answer: its last block of JSON, else all of it, in the intent's shape. An answer that strays comes
 * back as it is, with the place where it does.
 */
export function toResult(intent: RunIntent, answer: string): RunOutcome {
  const found = findJson(answer);
  if (found === undefined) return strayed(answer, 'the answer holds no block of JSON');
  const parsed = RESULT_SHAPES[intent].safeParse(found);
  if (parsed.success) return { result: parsed.data };
  const [issue] = parsed.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? 'the JSON' : issue.path.map(String).join('.');
  return strayed(answer, `${where}: ${issue === undefined ? 'it is not in the shape' : toIssueText(issue)}`);
}

const strayed = (answer: string, problem: string): RunOutcome => ({
  rawText: answer.length > RAW_MAX ? `${answer.slice(0, RAW_MAX)}…` : answer,
  resultProblem: problem.slice(0, PROBLEM_MAX),
});

/** An object in the text: in a fenced block, the last first, or the text itself, or what follows a line that opens one. */
function findJson(answer: string): unknown {
  const lines = answer.split('\n');
  const opening = lines.findLastIndex((line) => line.startsWith('{'));
  const candidates = [
    ...fencedBlocks(lines),
    answer,
    ...(opening === -1 ? [] : [lines.slice(opening).join('\n')]),
  ];
  for (const text of candidates) {
    const value = parseObject(text);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Contents of fenced blocks, the last first. A fence cannot stand inside JSON: no line of a text in it begins so. */
function fencedBlocks(lines: string[]): string[] {
  const blocks: string[] = [];
  let end: number | undefined;
  for (let i = lines.length - 1; i >= 0 && blocks.length < BLOCKS_MAX; i--) {
    if (!/^\s{0,3}```/.test(lines[i] as string)) continue;
    if (end === undefined) end = i;
    else {
      blocks.push(lines.slice(i + 1, end).join('\n'));
      end = undefined;
    }
  }
  return blocks;
}

function parseObject(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || trimmed.length > JSON_MAX) return undefined;
  try {
    // Models write `null` for what they leave out.
    return JSON.parse(trimmed, (_key, value: unknown) => value ?? undefined) as unknown;
  } catch {
    return undefined;
  }
}
