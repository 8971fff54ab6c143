const toOption = (value) => ({ value, name: value });

/** Settings of the behaviours that have them, and how each begins. */
const SETTINGS = {
  config: [
    {
      type: 'select',
      id: 'm',
      name: 'Mode',
      category: 'mode',
      currentValue: 'one',
      options: ['one', 'two'].map(toOption),
    },
    {
      type: 'select',
      id: 'x',
      name: 'Model',
      category: 'model',
      currentValue: 'small',
      options: [{ group: 'g', name: 'G', options: ['small', 'large'].map(toOption) }],
    },
  ],
  // Once it has another model, it offers others.
  'other-models': [
    {
      type: 'select',
      id: 'x',
      name: 'Model',
      category: 'model',
      currentValue: 'small',
      options: ['small', 'large'].map(toOption),
    },
  ],
  settings: [
    {
      type: 'select',
      id: 'effort',
      name: 'Effort',
      description: 'How long it thinks',
      category: 'thought_level',
      currentValue: 'low',
      options: ['low', 'high'].map(toOption),
    },
    { type: 'boolean', id: 'web', name: 'Search the web', currentValue: false },
    { type: 'slider', id: 'heat', name: 'Of a kind to come', currentValue: 3 },
    { type: 'select', id: 7, name: 'Without an id', currentValue: 'a', options: [] },
  ],
};

const MODELS = {
  'old-models': ['m1', 'm2'],
  'many-models': Array.from({ length: 1001 }, (_, i) => `m${i}`),
};

const MODES = {
  'own-modes': ['careful', 'plan', 'yolo'],
};

/** What a behaviour offers in its answer to session/new. */
export function createOffers(behaviour) {
  const configOptions = SETTINGS[behaviour];
  const models = MODELS[behaviour];
  const modes = MODES[behaviour] ?? ['one', 'two', 'three'];
  const toNamed = (id) => ({ id, name: id });
  const offers =
    configOptions !== undefined
      ? { configOptions }
      : models !== undefined
        ? {
            models: {
              currentModelId: models[0],
              availableModels: models.map((modelId) => ({ modelId, name: modelId.toUpperCase() })),
            },
          }
        : { modes: { currentModeId: modes[0], availableModes: modes.map(toNamed) } };
  return {
    capabilities:
      behaviour === 'resumes' ? { loadSession: true } : JSON.parse(process.env.FAKE_CAPABILITIES ?? '{}'),
    offers,
    setOption({ configId, value }) {
      const option = configOptions.find(({ id }) => id === configId);
      option.currentValue = value;
      if (behaviour === 'other-models') option.options = [value, `${value}-next`].map(toOption);
      return configOptions;
    },
  };
}
