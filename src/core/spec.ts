import type * as z from 'zod';
import type { Caller } from './call.ts';
import type { ErrorCode } from './errors.ts';
import type { ActionPorts } from './ports/index.ts';

export const SURFACES = ['app', 'cli', 'mcp', 'agent', 'voice'] as const;
export type Surface = (typeof SURFACES)[number];

/** Languages that the product speaks. */
export type Language = keyof Localised;

export const EXPOSURES = ['direct', 'discoverable'] as const;
/** `direct`: own named tool or command. `discoverable`: only through search, get and execute. */
export type Exposure = (typeof EXPOSURES)[number];

export type Effect = 'read' | 'write' | 'destructive';

/** A text in each language of the product. */
export interface Localised<T = string> {
  en: T;
  'zh-CN': T;
}

/** Defaults of one surface. A surface that is absent from the spec can never be added by policy. */
export interface SurfaceDefaults {
  exposure: Exposure;
  /** Default true. */
  enabled?: boolean;
  /** Default false. */
  approval?: boolean;
  /** The policy cannot change the exposure (approval actions are never separate tools). */
  exposureLocked?: boolean;
}

/** Another name for the action. The old name of a renamed action stays here for ever. */
export interface ActionAlias {
  name: string;
  /** Listed as a tool of its own wherever the action is direct. */
  tool?: boolean;
  /** Surfaces on which it is a tool even where the action itself is only discoverable. */
  directOn?: Surface[];
  /** Fields that the alias does not take (the default session fills them). */
  omit?: string[];
  summary?: string;
}

/** Where the values of a field come from: another read action of the catalog. */
export interface OptionSource {
  action: string;
  /** Input of that action; `$field` takes the value of a field of the form so far, absent if unset. */
  input?: Record<string, unknown>;
  /** Output field that holds the rows. */
  items: string;
  value: string;
  label?: string;
}

export interface FieldHint {
  label?: string;
  widget?: 'text' | 'multiline' | 'select' | 'session' | 'directory' | 'json';
  options?: OptionSource;
  /** For a field that is an object: the field of it that a plain word in a shell stands for. */
  shorthand?: string;
  /** A further, shorter name of its flag in a shell. */
  flag?: string;
  /** Shown only while another field has one of these values. */
  visibleWhen?: { field: string; in: (string | number | boolean)[] };
}

/** A column of a list for people: a field of the row, dotted for one inside another, or the first of several that the row has. */
export type Column =
  | string
  | {
      label: string;
      of: string[];
      /** Long text is not cut: it follows the row in lines of its own. For the last column. */
      whole?: true;
      /** All of the fields that the row has, one below the other, in place of the first. */
      every?: true;
      /** How an item of a list among these fields is written, by field: a template (see `NextStep`). */
      each?: Record<string, string>;
      /** Between the items of such a list. Default: a line break. */
      between?: string;
    };

/**
 * The command that a person types next, chosen by the value of a field of the output (of each row, where the output is a list).
 * A command is a template without the program's name: `{field}` is the value of a field, `{a|b}` of the first that is there;
 * a part in `[...]` is left out where its field is empty. A list of things with names becomes JSON to be filled in.
 */
export interface NextStep {
  by: string;
  commands: Record<string, string>;
}

export interface ActionExample {
  title: string;
  input: Record<string, unknown>;
}

/** Hands the call on to the action that its input names, through the whole pipeline again. */
export interface Forwarding {
  /** Which action: a template over the input's fields, `{actionId}`. */
  action: string;
  inputField: string;
  /** Refuse targets with another effect than reading. */
  readsOnly?: boolean;
}

/** Why an action that is known may not be called by anybody now, and what would change that. */
export interface Unavailable {
  reason:
    | 'excluded'
    | 'held_back'
    | 'left_out'
    | 'gone'
    | 'server_disabled'
    | 'provider_not_trusted'
    | 'no_provider';
  /** One sentence. */
  remedy: string;
}

/** What an action may need beyond Kaiwu itself: a provider that is set up. */
export type Capability = 'web_search' | 'web_answer' | 'searxng';

/** Requests of hosts beside those for tools, in the words of the Model Context Protocol. */
export const HOST_METHODS = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
] as const;
export type HostMethod = (typeof HOST_METHODS)[number];

/** A tool of a managed server, which the catalog holds as an action. */
export interface ManagedOrigin {
  /** Name of the server. */
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  /** Which sessions may use it; absent: all. */
  sessions?: { agents?: string[]; sessionIds?: string[] };
}

/** All of a spec that is plain JSON: what docs, CLI, OpenAPI, search and tests are derived from. */
export interface ActionData {
  /** Dotted `family.object.verb`; equals the file's path under `actions/`. */
  id: string;
  title: Localised;
  /** One line that says when to use it. */
  summary: string;
  description?: string;
  effect: Effect;
  /** A second identical call changes nothing more. */
  idempotent: boolean;
  /** Reaches things outside Kaiwu (an agent, a workspace). */
  openWorld: boolean;
  surfaces: Partial<Record<Surface, SurfaceDefaults>>;
  /** `never`: cannot be gated. `always`: surfaces on which policy cannot remove the gate. */
  approvals: 'never' | 'default' | { always: Surface[] };
  /** A token for one session may call it as well: it is about no session, or keeps to what that session may see. */
  anySession?: boolean;
  /**
   * Whether it works on a session, and which field names it. With a token for one session the field is that session or one
   * below it, also where it is optional; so what is about many sessions names the field that narrows it to those of one.
   */
  session: 'none' | { need: 'optional' | 'required'; field: string };
  hints?: Record<string, FieldHint>;
  /** Input fields that are never stored, logged, audited or shown. */
  secrets?: string[];
  /**
   * Fields of input and output that are passed on and kept nowhere: not in the audit, not with an idempotency key. Only a request
   * for approval keeps them, since a person reads it before the call can run.
   */
  transient?: string[];
  /** Input fields for which `null` means "clear" and is not treated as absent. */
  clearable?: string[];
  /** Fields that the CLI takes by position. */
  positionals?: string[];
  /** What people see of each row of the output's list, in order. Without it they see every field. */
  columns?: Column[];
  next?: NextStep;
  /** One line for people before the fields of the output: a template, chosen by the value of a field. */
  headline?: { by: string; texts: Record<string, string> };
  /** Field of the output that holds why the work came to nothing at once: a shell gets the exit code of its `code`. */
  failure?: string;
  /** Further CLI commands for the action, words with spaces between: `action exec`. */
  commands?: string[];
  aliases?: ActionAlias[];
  /** Words that people use for it, synonyms included. */
  keywords: Localised<string[]>;
  examples: ActionExample[];
  errors: ErrorCode[];
  forward?: Forwarding;
  /** Fields that the schema lacks are passed on, as JSON Schema has it by default; only known keys of hosts are dropped. */
  openInput?: boolean;
  unavailable?: Unavailable;
  /** It is offered only while this is there. */
  needs?: Capability;
  managed?: ManagedOrigin;
  /** What hosts ask for by this method is the answer of this action. */
  answers?: HostMethod;
}

export interface ActionRun<I, O> {
  (call: {
    input: I;
    caller: Caller;
    ports: ActionPorts;
    signal: AbortSignal;
    /** What `precondition` answered just before, where the call was approved. */
    reviewed?: Precondition;
  }): Promise<O>;
}

/** What an approval is bound to beside the input, in plain words: it is part of what the person reads. */
export type Precondition = Record<string, string | number>;

/** A whole action: data first, then schemas, then `run`. */
export interface ActionSpec<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject>
  extends ActionData {
  input: I;
  output: O;
  /**
   * Looks at what the call would work on, when it is filed for approval and again before it runs: a file's hash. What has
   * changed is not what was approved. @throws what the call itself would be refused with
   */
  precondition?: (call: { input: z.output<I>; caller: Caller; ports: ActionPorts }) => Promise<Precondition>;
  run: ActionRun<z.output<I>, z.input<O>>;
}

/** A spec whose schema types are forgotten, as the catalog holds it. */
export type AnyAction = Omit<ActionSpec, 'run' | 'precondition'> & {
  /** Refuses callers for what only data can tell (a session that has no share in it), before policy's gate. @throws action_disabled */
  admit?: (call: { caller: Caller; sessionId: string | undefined; ports: ActionPorts }) => Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  precondition?: (call: { input: any; caller: Caller; ports: ActionPorts }) => Promise<Precondition>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the executor has parsed the input with this very schema
  run: ActionRun<any, Record<string, unknown>>;
};

/** Declares an action. One action is one file and one default export of this. */
export function defineAction<I extends z.ZodObject, O extends z.ZodObject>(
  spec: ActionSpec<I, O>,
): ActionSpec<I, O> {
  return spec;
}

/** JSON Schema, as far as this project reads it. */
export type JsonSchema = {
  type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean | JsonSchema;
};

/** An action as data with its schemas in JSON: what crosses the wire and what is built into the clients. */
export interface ActionManifest extends ActionData {
  toolName: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
}

/** `session.title.set` is the tool `session_title_set`. */
export const toToolName = (id: string): string => id.replaceAll('.', '_');

/** `run` of an action that forwards: the executor hands its call on and never gets here. */
export const forwarded: ActionRun<unknown, never> = () =>
  Promise.reject(new Error('a forwarding action has no run of its own'));
