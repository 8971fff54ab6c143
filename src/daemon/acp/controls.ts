import { EVENT_LIMITS } from '../../core/link.ts';
import type { AgentOption, ConfigOption } from '../../core/session.ts';
import { isObject, type Json, objects } from './json.ts';

/** Values of one setting that are kept. */
const MAX_VALUES = 200;

/** One thing that an agent lets us choose (mode or model) and through which of its methods. */
export interface Choice {
  options: AgentOption[];
  current?: string;
  /** The request that chooses. */
  select(acpSessionId: string, value: string): { method: string; params: Record<string, unknown> };
}

export interface Controls {
  mode?: Choice;
  model?: Choice;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= EVENT_LIMITS.name ? value : undefined;

/**
 * What a session offers. Agents report modes and models in `modes` and `models`, in `configOptions`, or in both; the
 * config option is the newer way and is preferred for models, `session/set_mode` works wherever it is listed.
 */
export function toControls(session: unknown): Controls {
  if (!isObject(session)) return {};
  const config = configChoices(session.configOptions);
  return {
    mode: modesChoice(session.modes) ?? config.mode,
    model: config.model ?? modelsChoice(session.models),
  };
}

/** Mode and model as `configOptions` list them: in session/new, and again in each update of them. */
export function configChoices(configOptions: unknown): Controls {
  const choice = (category: string): Choice | undefined => {
    const found = objects(configOptions).find((o) => o.category === category && Array.isArray(o.options));
    const configId = text(found?.id);
    if (found === undefined || configId === undefined) return undefined;
    return {
      options: toValues(found.options),
      current: text(found.currentValue),
      select: (sessionId, value) => ({
        method: 'session/set_config_option',
        params: { sessionId, configId, value },
      }),
    };
  };
  return { mode: choice('mode'), model: choice('model') };
}

/** What `configOptions` list beside mode and model. Those of a kind that is not known are left out. */
export const toSettings = (configOptions: unknown): ConfigOption[] =>
  objects(configOptions)
    .filter(({ category }) => category !== 'mode' && category !== 'model')
    .flatMap(toSetting)
    .slice(0, EVENT_LIMITS.configOptions);

function toSetting(option: Json): ConfigOption[] {
  const configId = text(option.id);
  const { type, currentValue: value, description } = option;
  if (configId === undefined) return [];
  const about = {
    configId,
    name: (typeof option.name === 'string' ? option.name : configId).slice(0, EVENT_LIMITS.name),
    ...(typeof description === 'string' ? { description: description.slice(0, EVENT_LIMITS.title) } : {}),
  };
  if (type === 'boolean' && typeof value === 'boolean')
    return [{ ...about, kind: 'boolean', value, options: [] }];
  if (type !== 'select' || text(value) === undefined) return [];
  const options = toValues(option.options).slice(0, MAX_VALUES);
  return [{ ...about, kind: 'select', value: value as string, options }];
}

/** Values may stand in groups. */
const toValues = (options: unknown): AgentOption[] =>
  objects(options)
    .flatMap((o) => (Array.isArray(o.options) ? objects(o.options) : [o]))
    .flatMap((o) => toOption(o.value, o.name));

function modesChoice(modes: unknown): Choice | undefined {
  if (!isObject(modes)) return undefined;
  return {
    options: objects(modes.availableModes).flatMap((mode) => toOption(mode.id, mode.name)),
    current: text(modes.currentModeId),
    select: (sessionId, modeId) => ({ method: 'session/set_mode', params: { sessionId, modeId } }),
  };
}

/** Modes that an agent is taken to have. */
export const knownModes = (ids: string[]): Choice | undefined =>
  modesChoice({ availableModes: ids.map((id) => ({ id, name: id })) });

/** Not in the protocol's schema any more, yet some agents know no other way. */
function modelsChoice(models: unknown): Choice | undefined {
  if (!isObject(models)) return undefined;
  return {
    options: objects(models.availableModels).flatMap((model) => toOption(model.modelId, model.name)),
    current: text(models.currentModelId),
    select: (sessionId, modelId) => ({ method: 'session/set_model', params: { sessionId, modelId } }),
  };
}

const toOption = (id: unknown, name: unknown): AgentOption[] =>
  typeof id === 'string' && id.length <= EVENT_LIMITS.name
    ? [{ id, name: (typeof name === 'string' ? name : id).slice(0, EVENT_LIMITS.name) }]
    : [];
