import * as z from 'zod';
import { fitToList } from '../../../src/core/listed-tools.ts';
import { defineAction, type Surface } from '../../../src/core/spec.ts';
import {
  denial,
  inventory,
  policySummary,
  providerState,
  toDenials,
  toInventory,
  toPolicySummary,
  toWriteSurfaces,
  writeSurface,
} from '../../_diagnostics.ts';
import { surface } from '../../_governance.ts';
import { managedServer, SERVER_COLUMNS } from '../../_mcp.ts';
import { INSIGHT } from '../../_surfaces.ts';

/** Surfaces on which hosts are told of tools by name. */
const LISTING: Surface[] = ['mcp', 'agent'];

const count = (what: string) => z.int().describe(what);

export default defineAction({
  id: 'tool.registry.diagnostics',
  title: { en: 'Diagnose tools', 'zh-CN': '诊断工具' },
  summary:
    'Use to see why a tool is missing or refused: what there is, what writes, what was denied, how servers and providers do.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: INSIGHT,
  approvals: 'default',
  session: 'none',
  columns: SERVER_COLUMNS,
  keywords: {
    en: [
      'denied',
      'refused',
      'inventory',
      'missing tool',
      'broken',
      'troubleshoot',
      'health',
      'debug',
      'mcp servers',
      'not listed',
    ],
    'zh-CN': ['缺少工具', '故障', '排查', '健康'],
  },
  examples: [{ title: 'All of it', input: {} }],
  errors: [],
  input: z.object({}),
  output: z.object({
    servers: z
      .array(
        managedServer.pick({
          name: true,
          source: true,
          where: true,
          status: true,
          reason: true,
          stderrTail: true,
          protocolVersion: true,
          transport: true,
          warnings: true,
          noiseLines: true,
          starts: true,
          since: true,
          nextTryAt: true,
          toolCounts: true,
        }),
      )
      .describe('Managed MCP servers, without their settings.'),
    tools: z
      .object({
        available: count('Can be called.'),
        heldBack: count('Wait for a person to accept them.'),
        unavailable: count('Cannot be called for other reasons.'),
      })
      .describe('Tools of all of them.'),
    inventory: inventory.describe('Numbers of tools.'),
    writeSurfaces: z.array(writeSurface).describe('From where something can be changed, and how.'),
    policy: policySummary.describe('Numbers of rules.'),
    denials: z.array(denial).describe('Calls that were refused for what the caller may do, the newest 50.'),
    providers: z.array(providerState).describe('Capability providers.'),
    notListed: z
      .array(z.object({ surface, toolName: z.string().describe('Its name.') }))
      .describe('Direct tools for which hosts have no room in a list. They can be called all the same.'),
  }),
  async run({ caller, ports }) {
    const [servers, tools, writeSurfaces, policy, denials, providers] = await Promise.all([
      ports.managedServers.list(caller),
      ports.discovery.registry(caller.surface, caller),
      toWriteSurfaces(ports, caller),
      toPolicySummary(ports),
      toDenials(ports),
      ports.capabilityProviders.list(),
    ]);
    const counts = servers.map(({ toolCounts }) => toolCounts);
    const sum = (of: (each: (typeof counts)[number]) => number) =>
      counts.reduce((total, each) => total + of(each), 0);
    const notListedOn = async (of: Surface) =>
      fitToList(await ports.discovery.tools(of, caller)).leftOut.map(({ name }) => ({
        surface: of,
        toolName: name,
      }));
    const available = sum((each) => each.available);
    const heldBack = sum((each) => each.held_back);
    const all = sum((each) => Object.values(each).reduce((total, number) => total + number, 0));
    return {
      servers: servers.map((server) => {
        const { config: _, secrets: __, serverInfo: ___, ...state } = server;
        return state;
      }),
      tools: { available, heldBack, unavailable: all - available - heldBack },
      inventory: toInventory(tools),
      writeSurfaces,
      policy,
      denials,
      providers,
      notListed: (await Promise.all(LISTING.map(notListedOn))).flat(),
    };
  },
});
