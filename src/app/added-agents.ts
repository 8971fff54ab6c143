import { fileURLToPath } from 'node:url';
import { toWireError } from '../core/errors.ts';
import type { Logger } from '../core/ports/host.ts';
import { toAddedAgent } from '../daemon/agents/added.ts';
import { type AgentDefinition, toAgentTable } from '../daemon/agents/agents.ts';
import { readAddedAgents } from '../local/added-agents.ts';
import type { App } from './app.ts';

/** Agents that come with Kaiwu. @param demoFolder where the demo agent keeps its conversations */
export const builtInAgents = (app: App, demoFolder?: string): AgentDefinition[] =>
  toAgentTable({
    execPath: process.execPath,
    path: fileURLToPath(new URL('./demo-agent.js', import.meta.url)),
    version: app.version,
    folder: demoFolder,
  });

/** Reads the person's agents at each call. What is wrong with their file is logged once. */
export function createAddedAgents({ paths }: App, log: Logger): () => AgentDefinition[] {
  let told = '';
  return () => {
    try {
      const agents = Object.entries(readAddedAgents(paths));
      told = '';
      return agents.map(([agentId, agent]) => toAddedAgent(agentId, agent));
    } catch (error) {
      const { message } = toWireError(error);
      if (message !== told) log.warn({ error }, 'the agents that were added are left out');
      told = message;
      throw error;
    }
  };
}
