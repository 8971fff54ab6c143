import { createHash } from 'node:crypto';
import { EVENT_LIMITS } from '../../core/link.ts';
import type { AgentOption, ConfigOption, SessionEventBody } from '../../core/session.ts';

/** Most characters of one event's free part. What is larger loses its middle, not its place in the transcript. */
const MAX_CHARS = 256 * 1024;
const MAX_STRING = 16 * 1024;
/** Values of one setting. */
const MAX_VALUES = 200;

/** The value, or one like it that is small enough to store and to send. */
export function toBounded(value: unknown): unknown {
  const size = JSON.stringify(value)?.length ?? 0;
  if (size <= MAX_CHARS) return value;
  const json = JSON.stringify(value, (_key, part) => (typeof part === 'string' ? clip(part) : part));
  return json.length <= MAX_CHARS ? JSON.parse(json) : { cut: true, characters: size, start: clip(json) };
}

/** The agent's id, or for one that is too long (or empty) another that stands for it and for it alone. */
export const toShortId = (id: string): string =>
  id !== '' && id.length <= EVENT_LIMITS.id
    ? id
    : `${id.slice(0, EVENT_LIMITS.id / 2)}~${createHash('sha256').update(id).digest('hex')}`;

/** The first options that together are short enough to travel. */
export function toBoundedOptions(options: AgentOption[]): AgentOption[] {
  let chars = 0;
  return options.slice(0, EVENT_LIMITS.models).filter((option) => {
    chars += JSON.stringify(option).length;
    return chars <= EVENT_LIMITS.modelsChars;
  });
}

/** @param models where the session offers others now */
export const toModelChanged = (modelId: string, models: AgentOption[] | undefined): SessionEventBody => ({
  type: 'model_changed',
  modelId,
  ...(models === undefined ? {} : { models: toBoundedOptions(models) }),
});

/** Settings that are short enough to travel: few enough, and none with more values than fit. */
export const toBoundedConfig = (options: ConfigOption[]): ConfigOption[] =>
  options
    .slice(0, EVENT_LIMITS.configOptions)
    .map((option) => ({ ...option, options: option.options.slice(0, MAX_VALUES) }));

/** Start and end of a text that is longer than `max` characters. */
export function clip(text: string, max = MAX_STRING): string {
  if (text.length <= max) return text;
  const half = max / 2;
  return `${text.slice(0, half)}\n[${text.length - max} characters left out]\n${text.slice(-half)}`;
}
