import type { CallContext, Envelope } from '../../core/call.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { toTargetName } from '../../core/forwarding.ts';
import {
  type ActionData,
  type ActionManifest,
  type FieldHint,
  type JsonSchema,
  toToolName,
} from '../../core/spec.ts';
import type { Shape } from './render.ts';

/** Flags that every command takes. */
export interface GlobalFlags {
  server?: string;
  serverUrl?: string;
  webappUrl?: string;
  session?: string;
  json: boolean;
}

/** One run of a command. */
export interface Invocation {
  input: Record<string, unknown>;
  flags: GlobalFlags;
  idempotencyKey?: string;
  /** Aborted when the person presses Ctrl-C. */
  signal: AbortSignal;
}

/** A command, whether an action of the catalog is behind it or something on this machine. */
export interface Command extends Shape {
  /** `session title set`. */
  path: string;
  /** For a further name of a command: the path of that command. */
  sameAs?: string;
  /** Title of the action. What works on this machine alone has none. */
  title?: string;
  summary: string;
  description?: string;
  inputSchema: JsonSchema;
  /** Input fields taken by position, in order. */
  positionals: string[];
  /** The last of them, where it takes only words that follow `--`: those of another program. */
  afterDashes?: string;
  /** Field that the default session fills. */
  sessionField?: string;
  /** Fields for which the word `null` clears. */
  clearable?: string[];
  /** Fields that are objects, with the field of each that a plain word stands for. */
  shorthands?: Record<string, string>;
  /** Further flags, each with the field that it sets. */
  furtherFlags?: Record<string, string>;
  /** Field of the output whose `code` decides the exit code. */
  failure?: string;
  /** Fields that name a folder: a relative one is meant from where the person stands. */
  folders?: string[];
  examples: ActionData['examples'];
  errors: ErrorCode[];
  /** Takes `--idempotency-key`. */
  writes: boolean;
  /** Writes to the terminal while it runs: no progress is drawn over that. */
  talks?: boolean;
  /** What the output looks like, where that depends on the input. */
  shapeOf?: (input: Record<string, unknown>) => Shape | undefined;
  /** Text for people in place of the table that the output schema gives. */
  toText?: (output: Record<string, unknown>) => string;
  run(invocation: Invocation): Promise<Envelope>;
}

/** Runs one action with the flags that the person gave. */
export type RunAction = (
  actionId: string,
  invocation: Invocation,
  context: Pick<CallContext, 'surface' | 'sessionId' | 'client'>,
) => Promise<Envelope>;

/** The commands of the catalog: each action that is direct on the command line, under its id and its further names. */
export function toCommands(manifests: readonly ActionManifest[], runAction: RunAction): Command[] {
  return manifests
    .filter(({ surfaces }) => surfaces.cli?.exposure === 'direct')
    .flatMap((manifest) => {
      const command = toCommand(manifest, manifests, runAction);
      const further = (manifest.commands ?? []).map((path) => ({ ...command, path, sameAs: command.path }));
      return [command, ...further];
    });
}

/** `session.permission_mode.set` is typed `session permission-mode set`. */
const toPath = (actionId: string): string => actionId.replaceAll('.', ' ').replaceAll('_', '-');

function toCommand(
  manifest: ActionManifest,
  manifests: readonly ActionManifest[],
  runAction: RunAction,
): Command {
  const { session, forward } = manifest;
  return {
    path: toPath(manifest.id),
    title: manifest.title.en,
    summary: manifest.summary,
    ...(manifest.description === undefined ? {} : { description: manifest.description }),
    inputSchema: manifest.inputSchema,
    outputSchema: manifest.outputSchema,
    ...(manifest.columns === undefined ? {} : { columns: manifest.columns }),
    ...(manifest.headline === undefined ? {} : { headline: manifest.headline }),
    ...(manifest.next === undefined ? {} : { next: manifest.next }),
    ...(forward === undefined
      ? {}
      : { shapeOf: (input) => findByName(manifests, toTargetName(forward, input)) }),
    positionals: manifest.positionals ?? [],
    ...(session === 'none' ? {} : { sessionField: session.field }),
    clearable: manifest.clearable ?? [],
    folders: Object.entries(manifest.hints ?? {}).flatMap(([field, { widget }]) =>
      widget === 'directory' ? [field] : [],
    ),
    shorthands: hintsOf(manifest, ({ shorthand }, field) => shorthand && [field, shorthand]),
    furtherFlags: hintsOf(manifest, ({ flag }, field) => flag && [flag, field]),
    ...(manifest.failure === undefined ? {} : { failure: manifest.failure }),
    examples: manifest.examples,
    errors: manifest.errors,
    writes: manifest.effect !== 'read',
    run: (invocation) => {
      const { session: sessionId } = invocation.flags;
      const context = { surface: 'cli' as const, client: 'cli', ...(sessionId && { sessionId }) };
      return runAction(manifest.id, invocation, context);
    },
  };
}

const hintsOf = (
  { hints = {} }: ActionManifest,
  toEntry: (hint: FieldHint, field: string) => [string, string] | '' | undefined,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hints).flatMap(([field, hint]) => [toEntry(hint, field) || []].filter(isEntry)),
  );

const isEntry = (entry: string[]): entry is [string, string] => entry.length === 2;

const findByName = (manifests: readonly ActionManifest[], name: unknown): ActionManifest | undefined =>
  manifests.find(
    ({ id, aliases = [] }) =>
      id === name || toToolName(id) === name || aliases.some((alias) => alias.name === name),
  );
