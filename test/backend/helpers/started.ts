import type { ConfigOption, SessionEventBody } from '../../../src/core/session.ts';

/** What an agent says when it has started. */

export const configOptions: ConfigOption[] = [
  {
    configId: 'thought',
    name: 'Thought level',
    kind: 'select',
    value: 'low',
    options: [
      { id: 'low', name: 'Low' },
      { id: 'high', name: 'High' },
    ],
  },
  { configId: 'web', name: 'Web search', kind: 'boolean', value: false, options: [] },
];

export const started: SessionEventBody = {
  type: 'session_started',
  acpSessionId: 'acp-1',
  permissionMode: 'default',
  models: [
    { id: 'small', name: 'Small' },
    { id: 'large', name: 'Large' },
  ],
  modelId: 'small',
  configOptions,
  resumed: 'new',
};
