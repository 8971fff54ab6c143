import type { CallContext, Envelope } from '../../core/call.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ActionData, ActionManifest, JsonSchema } from '../../core/spec.ts';

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
export interface Command {
  /** `session title set`. */
  path: string;
  summary: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  /** Input fields taken by position, in order. */
  positionals: string[];
  /** Field that the default session fills. */
  sessionField?: string;
  /** Fields for which the word `null` clears. */
  clearable?: string[];
  /** Fields that name a folder: a relative one is meant from where the person stands. */
  folders?: string[];
  examples: ActionData['examples'];
  errors: ErrorCode[];
  /** Takes `--idempotency-key`. */
  writes: boolean;
  /** Writes to the terminal while it runs: no progress is drawn over that. */
  talks?: boolean;
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
    .flatMap((manifest) =>
      [toPath(manifest.id), ...(manifest.commands ?? [])].map((path) => toCommand(manifest, path, runAction)),
    );
}

/** `session.permission_mode.set` is typed `session permission-mode set`. */
export const toPath = (actionId: string): string => actionId.replaceAll('.', ' ').replaceAll('_', '-');

function toCommand(manifest: ActionManifest, path: string, runAction: RunAction): Command {
  const { session } = manifest;
  return {
    path,
    summary: manifest.summary,
    ...(manifest.description === undefined ? {} : { description: manifest.description }),
    inputSchema: manifest.inputSchema,
    outputSchema: manifest.outputSchema,
    positionals: manifest.positionals ?? [],
    ...(session === 'none' ? {} : { sessionField: session.field }),
    clearable: manifest.clearable ?? [],
    folders: Object.entries(manifest.hints ?? {}).flatMap(([field, { widget }]) =>
      widget === 'directory' ? [field] : [],
    ),
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
