import * as z from 'zod';
import type { ActionPorts } from '../src/core/ports/index.ts';
import type { RegistryTool } from '../src/core/registry.ts';

export const registryTool = z.object({
  toolId: z.string().describe('Stable id: the action id.'),
  toolName: z.string().describe('Name under which hosts list it.'),
  title: z.string().describe('Name for people.'),
  summary: z.string().describe('When to use it.'),
  route: z.string().describe('native, or mcp:<server> for a tool of a managed MCP server.'),
  version: z.string().describe('Version of Kaiwu, or of the managed server.'),
  effect: z.enum(['read', 'write', 'destructive']).describe('What a call does.'),
  allowedAgents: z.array(z.string()).describe('Agents in whose sessions it may be used; * for all.'),
  tags: z.array(z.string()).describe('Families and effect.'),
  enabled: z.boolean().describe('Whether a call from the surface would be taken now.'),
  reason: z.string().optional().describe('Why not.'),
  asks: z.boolean().describe('A call from the surface asks a person first.'),
  health: z.enum(['ok', 'degraded', 'unavailable']).describe('Whether what serves it can be reached.'),
  inputSchema: z.looseObject({}).describe('JSON Schema of its input.'),
  outputSchema: z.looseObject({}).describe('JSON Schema of its output.'),
});

export type HealthyTool = RegistryTool & Pick<z.input<typeof registryTool>, 'version' | 'health'>;

const HEALTH: Record<string, HealthyTool['health']> = { ready: 'ok', degraded: 'degraded' };

/** Adds what the servers behind the tools know of themselves. */
export async function withHealth(tools: RegistryTool[], ports: ActionPorts): Promise<HealthyTool[]> {
  const [backends, servers] = await Promise.all([ports.servers.list(), ports.managedServers.list()]);
  const version = backends[0]?.version ?? '';
  const byName = new Map(servers.map((server) => [`mcp:${server.name}`, server]));
  return tools.map((tool) => {
    if (tool.route === 'native') return { ...tool, version, health: 'ok' };
    const server = byName.get(tool.route);
    return {
      ...tool,
      version: server?.serverInfo?.version ?? '',
      health: HEALTH[server?.status ?? ''] ?? 'unavailable',
    };
  });
}
