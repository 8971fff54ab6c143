import type { ErrorCode } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/spec.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';

/** A command with something on this machine behind it, in place of an action. */
export interface LocalCommand {
  path: string;
  /** For a further name of a command: the path of that command. */
  sameAs?: string;
  summary: string;
  description?: string;
  /** Fields of the input. */
  fields?: Record<string, JsonSchema>;
  /** Fields taken by position. Those named in `required` must be given. */
  positionals?: string[];
  required?: string[];
  examples?: Command['examples'];
  errors?: ErrorCode[];
  /** Shape of the output, where it is a list. */
  outputSchema?: JsonSchema;
  talks?: boolean;
  toText?: Command['toText'];
  run(input: Record<string, unknown>, invocation: Invocation): Promise<object>;
}

export function toLocalCommand(local: LocalCommand): Command {
  return {
    path: local.path,
    ...(local.sameAs === undefined ? {} : { sameAs: local.sameAs }),
    summary: local.summary,
    ...(local.description === undefined ? {} : { description: local.description }),
    inputSchema: { type: 'object', properties: local.fields ?? {}, required: local.required ?? [] },
    ...(local.outputSchema === undefined ? {} : { outputSchema: local.outputSchema }),
    positionals: local.positionals ?? [],
    examples: local.examples ?? [{ title: local.summary.replace(/\.$/, ''), input: {} }],
    errors: local.errors ?? [],
    writes: false,
    ...(local.talks === undefined ? {} : { talks: local.talks }),
    ...(local.toText === undefined ? {} : { toText: local.toText }),
    async run(invocation) {
      const output = await local.run(invocation.input, invocation);
      return { status: 'ok', output: { ...output } };
    },
  };
}

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const choice = (description: string, values: readonly string[]): JsonSchema => ({
  type: 'string',
  description,
  enum: [...values],
});
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
export const count = (description: string, fallback?: number): JsonSchema => ({
  type: 'integer',
  description,
  ...(fallback === undefined ? {} : { default: fallback }),
});
/** Output that is one list of rows. */
export const listOf = (field: string, columns: readonly string[]): JsonSchema => ({
  type: 'object',
  properties: {
    [field]: {
      type: 'array',
      items: { type: 'object', properties: Object.fromEntries(columns.map((column) => [column, {}])) },
    },
  },
});
