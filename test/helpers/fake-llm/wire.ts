/** A JSON object that a client sent. Nothing of it is trusted to have a shape. */
export type Json = Record<string, unknown>;

export const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** One entry of the history that a model is given, as far as the script cares. */
export interface Entry {
  kind: 'user' | 'result';
  text: string;
}

/** A request for the model's next words, the same from every wire. */
export interface Asked {
  model: string;
  stream: boolean;
  /** Names of the tools that it may call. */
  tools: string[];
  entries: Entry[];
}

/** One event of a stream. `data` is written as JSON, a string as it is. */
export interface StreamEvent {
  event?: string;
  data: unknown;
}

/** An answer in the making. Each method answers with the events that say so on the stream. */
export interface Answer {
  begin(): StreamEvent[];
  text(text: string): StreamEvent[];
  thought(text: string): StreamEvent[];
  call(call: { id: string; name: string; args: Json }): StreamEvent[];
  end(): StreamEvent[];
  /** All of it at once, for a client that does not stream. Read after `end`. */
  whole(): unknown;
}

/** How one vendor's clients talk to their model. */
export interface Wire {
  name: string;
  path: RegExp;
  read(body: Json, path: string): Asked;
  answer(about: { id: string; model: string }): Answer;
}

/** What every answer says that it used. */
export const USED = { input: 1100, output: 70 };

/** The words in a message's content, in whichever of the many forms it comes. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join('\n');
  if (!isJson(content)) return '';
  return textOf(content.text ?? content.content ?? '');
}

export const named = (value: unknown, fallback: string): string =>
  typeof value === 'string' ? value : fallback;
