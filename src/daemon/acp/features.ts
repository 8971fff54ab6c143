import type { AgentFeature } from '../../core/session.ts';
import { isObject, type Json } from './json.ts';

/** Where an agent's answer to `initialize` says what it can. An object, however empty, means yes. */
const ADVERTISED: [AgentFeature, ...string[]][] = [
  ['load', 'loadSession'],
  ['resume', 'sessionCapabilities', 'resume'],
  ['fork', 'sessionCapabilities', 'fork'],
  ['close', 'sessionCapabilities', 'close'],
  ['additional_directories', 'sessionCapabilities', 'additionalDirectories'],
  ['images', 'promptCapabilities', 'image'],
  ['http_mcp', 'mcpCapabilities', 'http'],
];

export const toFeatures = (capabilities: Json): AgentFeature[] =>
  ADVERTISED.flatMap(([feature, ...path]) => {
    const said = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), capabilities);
    return said === true || isObject(said) ? [feature] : [];
  });
