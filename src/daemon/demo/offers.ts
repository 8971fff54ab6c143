import { RequestError, type SessionConfigOption } from '@agentclientprotocol/sdk/unstable';

/** Names of its own, so that the mapping of modes is put to use. */
const MODES = [
  { id: 'ask-first', name: 'Ask first' },
  { id: 'plan-first', name: 'Plan first' },
  { id: 'look-only', name: 'Look only' },
  { id: 'edit-freely', name: 'Edit freely' },
  { id: 'never-ask', name: 'Never ask' },
];

const SETTINGS = [
  {
    id: 'model',
    name: 'Model',
    category: 'model',
    options: [
      { value: 'demo-1', name: 'Demo 1' },
      { value: 'demo-2', name: 'Demo 2' },
    ],
  },
  {
    id: 'effort',
    name: 'Effort',
    category: 'thought_level',
    options: [
      { value: 'low', name: 'Low' },
      { value: 'high', name: 'High' },
    ],
  },
];

/** Chosen values by the id of their setting; the first one of each until another is chosen. */
export type Choices = Record<string, string>;

const toConfigOptions = (choices: Choices): SessionConfigOption[] =>
  SETTINGS.map((setting) => ({
    ...setting,
    type: 'select',
    currentValue: choices[setting.id] ?? (setting.options[0]?.value as string),
  }));

export const toOffers = (choices: Choices) => ({
  modes: { currentModeId: 'ask-first', availableModes: MODES },
  configOptions: toConfigOptions(choices),
});

export function checkMode(modeId: string): void {
  if (!MODES.some((mode) => mode.id === modeId)) throw RequestError.invalidParams({ modeId });
}

/** Notes a choice. Answers all settings, as the protocol wants it. */
export function choose(choices: Choices, configId: string, value: unknown): SessionConfigOption[] {
  const setting = SETTINGS.find(({ id }) => id === configId);
  const option = setting?.options.find((one) => one.value === value);
  if (option === undefined) throw RequestError.invalidParams({ configId, value });
  choices[configId] = option.value;
  return toConfigOptions(choices);
}
