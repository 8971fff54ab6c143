import type { AgentFeature } from '../../core/agent.ts';
import { isObject, type Json } from './json.ts';

/** Where an agent's answer to `initialize` says what it can. An object, however empty, means yes. */
const ADVERTISED: [AgentFeature, string][] = [
  ['load', 'agentCapabilities.loadSession'],
  ['resume', 'agentCapabilities.sessionCapabilities.resume'],
  ['fork', 'agentCapabilities.sessionCapabilities.fork'],
  ['close', 'agentCapabilities.sessionCapabilities.close'],
  ['additional_directories', 'agentCapabilities.sessionCapabilities.additionalDirectories'],
  ['images', 'agentCapabilities.promptCapabilities.image'],
  ['http_mcp', 'agentCapabilities.mcpCapabilities.http'],
  // Not of the protocol itself: an extension that begins to be shared.
  ['steer', '_meta.steering.supported'],
];

export const toFeatures = (answer: Json): AgentFeature[] =>
  ADVERTISED.flatMap(([feature, path]) => {
    const said = path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), answer);
    return said === true || isObject(said) ? [feature] : [];
  });
