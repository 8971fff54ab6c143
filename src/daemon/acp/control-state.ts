import type { AgentOption, ConfigOption, PermissionMode } from '../../core/session.ts';
import type { AgentDefinition } from '../agents/agents.ts';
import { toInitialMode } from '../agents/known-modes.ts';
import type { AgentListener } from './agent-session.ts';
import type { AcpConnection } from './connection.ts';
import { unknownModel, unknownOption, unknownValue, unsupportedMode } from './control-errors.ts';
import { type Controls, configChoices, knownModes, toControls, toSettings } from './controls.ts';
import { isObject } from './json.ts';
import type { Opened } from './open.ts';
import type { UsageMeter } from './usage.ts';

/** Follows which mode, model and settings the agent is in, by its reports and by what we ask of it. */
export function createControlState(options: {
  definition: AgentDefinition;
  listener: AgentListener;
  usage: UsageMeter;
}) {
  const { definition, listener, usage } = options;
  let connection: AcpConnection | undefined;
  let acpSessionId = '';
  let controls: Controls = {};
  let settings: ConfigOption[] = [];
  /** Mode that an agent starts in of which we know no modes. */
  let initialMode: string | undefined;

  function onUpdate(params: unknown): void {
    const update = isObject(params) && isObject(params.update) ? params.update : undefined;
    if (update === undefined) return;
    if (update.sessionUpdate === 'current_mode_update') {
      if (typeof update.currentModeId === 'string') noteMode(update.currentModeId);
    } else if (update.sessionUpdate === 'config_option_update') {
      noteConfig(update.configOptions);
    } else if (update.sessionUpdate === 'usage_update') {
      const now = usage.onUpdate(update);
      if (now !== undefined && connection !== undefined) listener.onUsage(now);
    } else if (update.sessionUpdate === 'session_info_update') {
      if (typeof update.title === 'string' && update.title !== '') listener.onTitle(update.title);
    } else if (connection !== undefined) {
      // Before that, it replays a conversation that we have.
      listener.onUpdate(update);
    }
  }

  function noteMode(modeId: string): void {
    if (controls.mode === undefined || modeId === controls.mode.current) return;
    controls.mode.current = modeId;
    const modes = Object.entries(definition.modes) as [PermissionMode, string[]][];
    const known = modes.find(([, ids]) => ids.includes(modeId))?.[0];
    listener.onModeChanged(modeId, modeId === initialMode ? 'default' : known);
  }

  /** @param isAnswer to a change of the model that we asked for: the asker has the list from here */
  function noteConfig(configOptions: unknown, isAnswer = false): void {
    if (!Array.isArray(configOptions)) return;
    const next = configChoices(configOptions);
    if (next.mode?.current !== undefined) noteMode(next.mode.current);
    if (next.model !== undefined) {
      const { current, options } = next.model;
      const isOther = JSON.stringify(options) !== JSON.stringify(controls.model?.options);
      const changed = current !== controls.model?.current;
      controls.model = next.model;
      if (current !== undefined && (changed || (isOther && !isAnswer)) && connection !== undefined)
        listener.onModelChanged(current, isOther ? options : undefined);
    }
    const before = settings;
    settings = toSettings(configOptions);
    const isNew = JSON.stringify(before) !== JSON.stringify(settings);
    if (isNew && connection !== undefined) listener.onConfigOptions(settings);
  }

  async function select(part: 'mode' | 'model', value: string): Promise<void> {
    const choice = controls[part];
    if (choice === undefined || connection === undefined || choice.current === value) return;
    const before = choice.current;
    choice.current = value;
    const { method, params } = choice.select(acpSessionId, value);
    try {
      const result = await connection.request(method, params);
      if (part === 'model' && isObject(result)) noteConfig(result.configOptions, true);
    } catch (error) {
      choice.current = before;
      throw error;
    }
  }

  return {
    onUpdate,
    opened(given: AcpConnection, opened: Opened) {
      acpSessionId = opened.acpSessionId;
      controls = toControls(opened.offers);
      settings = toSettings(isObject(opened.offers) ? opened.offers.configOptions : undefined);
      // Some agents name their modes only when a conversation is new, and know them all the same.
      if ((opened.resumed === 'loaded' || opened.resumed === 'forked') && controls.mode === undefined) {
        controls.mode = knownModes(Object.values(definition.modes).flat());
      }
      initialMode = toInitialMode(definition, controls.mode?.current);
      connection = given;
    },
    modeIds: () => controls.mode?.options.map((option) => option.id) ?? [],
    models: (): AgentOption[] => controls.model?.options ?? [],
    currentModel: () => controls.model?.current,
    settings: () => settings,
    async setMode(mode: PermissionMode) {
      // An agent without modes asks about everything, which is what the default means.
      if (controls.mode === undefined && mode === 'default') return;
      const offered = controls.mode?.options.map((option) => option.id) ?? [];
      const wanted = definition.modes[mode]?.find((id) => offered.includes(id));
      const target = wanted ?? (mode === 'default' ? initialMode : undefined);
      if (target === undefined) throw unsupportedMode(definition, mode, offered);
      await select('mode', target);
    },
    async setModel(modelId: string) {
      const offered = controls.model?.options.map((option) => option.id) ?? [];
      if (!offered.includes(modelId)) throw unknownModel(definition.name, modelId, offered);
      await select('model', modelId);
    },
    async setSetting(configId: string, value: string | boolean) {
      const setting = settings.find((one) => one.configId === configId);
      if (setting === undefined) throw unknownOption(definition.name, configId, settings);
      const isOffered =
        setting.kind === 'boolean'
          ? typeof value === 'boolean'
          : setting.options.some((option) => option.id === value);
      if (!isOffered) throw unknownValue(setting, value);
      if (setting.value === value) return;
      const kind = setting.kind === 'boolean' ? { type: 'boolean' } : {};
      const params = { sessionId: acpSessionId, configId, value, ...kind };
      const result = await connection?.request('session/set_config_option', params);
      if (isObject(result) && Array.isArray(result.configOptions)) return noteConfig(result.configOptions);
      settings = settings.map((one) => (one.configId === configId ? { ...one, value } : one));
      listener.onConfigOptions(settings);
    },
  };
}
