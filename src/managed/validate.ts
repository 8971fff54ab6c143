import { createContext, Script } from 'node:vm';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { ToolIssue, ToolValidator } from '../core/managed/further-actions.ts';
import type { ToolDefinition } from '../core/managed/managed.ts';
import { resolvePointer } from '../core/managed/json-pointer.ts';
import { isDeeper } from '../core/managed/nesting.ts';
import { toToolIssues } from './validation-issues.ts';

/** Milliseconds that a schema may take to be compiled, once, and a call's arguments to be judged. */
const COMPILE_MS = 1000;
const JUDGE_MS = 250;
/** Judgements that may take too long before a schema is given no further chance to hold up the others. */
const MAX_LATE = 3;

/** Characters of a schema times those of arguments up to which all that is wrong is told: it could be as much as that. */
const MAX_WORK = 10_000_000;

/** Keywords by which judging can take far longer than its schema and arguments are long. */
const COSTLY = /"(\$\w*[rR]ef|uniqueItems|pattern|patternProperties)":/;

/** Validators of tools, each made at its first call and kept for as long as the definition is. */
export function createValidators(): (definition: ToolDefinition) => ToolValidator {
  const made = new WeakMap<object, ToolValidator>();
  return ({ inputSchema }) => {
    const known = made.get(inputSchema) ?? createValidator(inputSchema);
    made.set(inputSchema, known);
    return known;
  };
}

/**
 * Judges arguments by a server's own schema, JSON Schema 2020-12 or draft-07. Compiled at the first call. A schema of a stranger can
 * neither hang nor crash the process: both steps run against the clock; patterns run on an engine of linear time, and those that it
 * cannot run (looking ahead, looking back, repeating what matched) are not applied; references lead nowhere outside the schema. What
 * cannot be understood of a schema is left to the server to judge; what takes too long is refused.
 */
export function createValidator(schema: Record<string, unknown>): ToolValidator {
  let judge: ToolValidator | undefined;
  return (args) => {
    judge ??= compile(schema);
    return judge(args);
  };
}

function compile(schema: Record<string, unknown>): ToolValidator {
  if (isDeeper(schema)) return anything;
  const own = toContained(schema) as AnySchemaObject;
  const drafts = isDraft07(schema) ? [Ajv, Ajv2020] : [Ajv2020, Ajv];
  for (const Draft of drafts) {
    try {
      const make = (allErrors: boolean) =>
        againstClock(COMPILE_MS, () => new Draft({ ...OPTIONS, allErrors }).compile(own));
      return toValidator(make, JSON.stringify(own));
    } catch (error) {
      if (isLate(error)) return () => [TOO_LATE];
    }
  }
  return anything;
}

/** @param make compiles it, to tell of all that is wrong or of the first of it */
function toValidator(make: (allErrors: boolean) => ValidateFunction, text: string): ToolValidator {
  const all = make(true);
  const costly = COSTLY.test(text);
  let first: ValidateFunction | undefined;
  let late = 0;
  return (args) => {
    if (late >= MAX_LATE) return [TOO_LATE];
    let isLarge = false;
    try {
      isLarge = text.length * JSON.stringify(args).length > MAX_WORK;
      const validate = isLarge ? (first ??= make(false)) : all;
      const fits = isLarge || costly ? againstClock(JUDGE_MS, () => validate(args)) : validate(args);
      return fits ? [] : toToolIssues(validate.errors ?? []);
    } catch (error) {
      // What is large is the caller's doing, and no reason to refuse others.
      if (isLate(error) && !isLarge) late++;
      return [error instanceof RangeError ? TOO_DEEP : TOO_LATE];
    }
  };
}

const anything: ToolValidator = () => [];

const TOO_LATE: ToolIssue = {
  path: [],
  message: "cannot be checked: the server's schema takes too long to check against",
};
const TOO_DEEP: ToolIssue = { path: [], message: 'is nested too deeply' };

const OPTIONS = {
  strict: false,
  // Broken parts are to be left out, not refused; schemas of schemas need not be compiled.
  validateSchema: false,
  meta: false,
  validateFormats: false,
  // A part that is referred to a thousand times is not written out a thousand times.
  inlineRefs: false,
  logger: false,
  code: { regExp: Object.assign(toLinearPattern, { code: 'toLinearPattern' }) },
} as const;

/** `toString` is by what the compiler tells patterns apart. */
function toLinearPattern(pattern: string) {
  const test = toTest(pattern);
  return { test, toString: () => pattern };
}

function toTest(pattern: string): (text: string) => boolean {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return (text) => compiled.matcher(text).find();
  } catch {
    return () => true;
  }
}

/** Keywords whose values are data and no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * The schema by itself: without what would load others, take names among them, or answer late. A reference that leads nowhere says
 * nothing.
 */
function toContained(root: Record<string, unknown>): unknown {
  const contain = (node: unknown, isMap = false): unknown => {
    if (Array.isArray(node)) return node.map((item) => contain(item));
    if (typeof node !== 'object' || node === null) return node;
    const kept = Object.entries(node).filter(([key, value]) => isMap || isContained(key, value, node, root));
    return Object.fromEntries(
      kept.map(([key, value]) => [
        key,
        !isMap && DATA.has(key) ? value : contain(value, !isMap && MAPS.has(key)),
      ]),
    );
  };
  return contain(root);
}

/** Keywords by which a schema takes a name among others, or is judged in another way. */
const FOREIGN = new Set(['$id', 'id', '$schema', '$vocabulary', '$async', 'discriminator']);

/** Keywords whose values hold schemas by names of their own. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

function isContained(key: string, value: unknown, node: object, root: Record<string, unknown>): boolean {
  if (FOREIGN.has(key)) return false;
  if (key === 'nullable') return 'type' in node;
  if (key !== '$ref' && key !== '$dynamicRef' && key !== '$recursiveRef') return true;
  if (typeof value !== 'string' || !value.startsWith('#')) return false;
  return !value.startsWith('#/') || isSchema(resolvePointer(root, value));
}

const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null);

/** Draft-07 and before by its name, or by what only they have. */
const isDraft07 = ({ $schema, definitions }: Record<string, unknown>): boolean =>
  typeof $schema === 'string' ? /draft-0[467]/.test($schema) : definitions !== undefined;

const alone = createContext({});
const run = new Script('work()');

/** Runs work that holds the thread, and stops it when its time is over: nothing else can stop what never yields. */
function againstClock<T>(timeout: number, work: () => T): T {
  alone['work'] = work;
  return run.runInContext(alone, { timeout }) as T;
}

/** By the code alone: the error is of another realm. */
const isLate = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
