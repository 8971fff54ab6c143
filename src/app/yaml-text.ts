import { isAlias, isMap, isScalar, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { KaiwuError } from '../core/errors.ts';
import { misspelt } from '../core/nearest.ts';
import type { JsonSchema } from '../core/spec.ts';

interface Problem {
  /** Dotted path of the value; empty for a text that is no YAML. */
  path: string;
  message: string;
  line: number;
  column: number;
}

export interface YamlForm {
  /** Objects, texts, numbers and booleans; lists are not read. */
  schema: JsonSchema;
  /** Names that may stand at a place where the schema takes any. */
  names?: (path: readonly string[]) => readonly string[] | undefined;
}

const MAX_TOLD = 10;

/**
 * Reads YAML 1.2 (so JSON as well) and holds it against a schema. What the schema does not name is refused, never skipped.
 * @param name of the file, for messages
 * @throws invalid_input naming file, line and column of each problem
 */
export function readYaml(text: string, name: string, form: YamlForm): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: Problem[] = [];
  const add = (path: readonly string[], message: string, offset: number) => {
    const { line, col } = lines.linePos(offset);
    problems.push({ path: path.join('.'), message, line, column: col });
  };
  for (const { message, pos } of [...document.errors, ...document.warnings]) add([], message, pos[0]);
  if (document.contents === null) add([], 'the file says nothing', 0);
  if (problems.length > 0) throw refused(name, problems);
  const resolve = (node: unknown) => (isAlias(node) ? node.resolve(document) : (node as Node | undefined));
  const value = check(document.contents, form.schema, [], 0);
  if (problems.length > 0) throw refused(name, problems);
  return value;

  function check(given: unknown, schema: JsonSchema, path: readonly string[], near: number): unknown {
    const node = resolve(given);
    const at = (given as Node | null)?.range?.[0] ?? near;
    if (schema.type === 'object') {
      if (isMap(node)) return checkMap(node.items, schema, path, at);
      const empty = isScalar(node) ? node.value === null : node === undefined || node === null;
      add(
        path,
        empty ? `${nameOf(path)} is empty; {} stands for nothing` : `${nameOf(path)} must be a map`,
        at,
      );
      return undefined;
    }
    const wrong = isScalar(node) ? wrongScalar(node.value, schema) : wrongScalar(undefined, schema);
    if (wrong !== undefined) add(path, `${nameOf(path)} ${wrong}`, at);
    return isScalar(node) ? node.value : undefined;
  }

  function checkMap(
    pairs: readonly Pair[],
    { properties = {}, required = [], additionalProperties: rest }: JsonSchema,
    path: readonly string[],
    near: number,
  ): Record<string, unknown> {
    const entries = pairs.map(({ key, value }): [string, unknown] => {
      const node = resolve(key);
      const at = (key as Node | null)?.range?.[0] ?? near;
      if (!isScalar(node)) {
        add(path, 'a key must be a text', at);
        return ['', undefined];
      }
      const word = String(node.value);
      const inside = [...path, word];
      const schema = Object.hasOwn(properties, word)
        ? properties[word]
        : typeof rest === 'object'
          ? rest
          : undefined;
      const names = schema === undefined ? Object.keys(properties) : form.names?.(path);
      if (schema !== undefined && (names?.includes(word) ?? true)) {
        return [word, check(value, schema, inside, at)];
      }
      add(inside, unknownName(word, names ?? []), at);
      return [word, undefined];
    });
    for (const field of required) {
      if (!entries.some(([word]) => word === field)) add([...path, field], `${field} is missing`, near);
    }
    return Object.fromEntries(entries);
  }
}

const nameOf = (path: readonly string[]): string => path.at(-1) ?? 'the file';

function unknownName(word: string, names: readonly string[]): string {
  const meant = misspelt(word, names);
  const choice = names.length === 0 ? '' : `; known: ${names.join(', ')}`;
  return `${JSON.stringify(word.slice(0, 80))} is not known here${choice}${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
}

/** What is wrong with a value, if anything. */
function wrongScalar(
  value: unknown,
  { type, enum: choices, minimum, maximum }: JsonSchema,
): string | undefined {
  const received = JSON.stringify(value)?.slice(0, 80) ?? 'a map or a list';
  if (choices !== undefined && !choices.includes(value as string)) {
    return `must be ${choices.join(' or ')}, not ${received}`;
  }
  if (type === 'boolean')
    return typeof value === 'boolean' ? undefined : `must be true or false, not ${received}`;
  if (type === 'string') return typeof value === 'string' ? undefined : `must be a text, not ${received}`;
  const whole = type === 'integer';
  const fits =
    typeof value === 'number' &&
    (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    value >= (minimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (maximum ?? Number.POSITIVE_INFINITY);
  if (fits) return undefined;
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  const to = maximum === undefined ? '' : ` to ${maximum}`;
  return `must be a ${whole ? 'whole ' : ''}number${from}${to}, not ${received}`;
}

function refused(name: string, problems: Problem[]): KaiwuError {
  const told = problems
    .slice(0, MAX_TOLD)
    .map(({ message, line, column }) => `${name}:${line}:${column}: ${message}`);
  const more = problems.length > MAX_TOLD ? [`and ${problems.length - MAX_TOLD} more`] : [];
  return new KaiwuError('invalid_input', [...told, ...more].join('\n'), {
    hint: 'Nothing was changed.',
    details: { file: name, issues: problems.slice(0, 100) },
  });
}
