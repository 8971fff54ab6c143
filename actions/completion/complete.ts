import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { RELATED } from '../_surfaces.ts';

/** Where values of an argument come from, by its name. `from`: input that the source needs of the arguments given so far. */
const SOURCES: Record<
  string,
  { action: string; items: string; value: string; input?: object; from?: string[] }
> = {
  sessionId: { action: 'session.list', items: 'sessions', value: 'sessionId', input: { limit: 200 } },
  machineId: { action: 'machines.list', items: 'machines', value: 'machineId' },
  agentId: { action: 'agents.backends.list', items: 'agents', value: 'agentId', from: ['machineId'] },
  modelId: {
    action: 'agents.models.list',
    items: 'models',
    value: 'id',
    from: ['agentId', 'machineId', 'sessionId'],
  },
};

/** The protocol's own bound. */
const MAX_VALUES = 100;

export default defineAction({
  id: 'completion.complete',
  title: { en: 'Complete a value', 'zh-CN': '补全取值' },
  summary: 'Use to complete the beginning of a session, machine, agent or model id.',
  effect: 'read',
  idempotent: true,
  openWorld: false,
  surfaces: RELATED,
  approvals: 'default',
  session: 'none',
  anySession: true,
  answers: 'completion/complete',
  keywords: { en: ['autocomplete', 'suggest', 'values', 'ids'], 'zh-CN': ['补全', '建议', '取值'] },
  examples: [{ title: 'Sessions', input: { argument: 'sessionId', value: 'sess_' } }],
  errors: ['action_disabled', 'machine_not_found', 'machine_offline', 'daemon_not_running'],
  input: z.object({
    argument: z
      .string()
      .min(1)
      .max(100)
      .describe(`Name of the argument: ${Object.keys(SOURCES).join(', ')}.`),
    value: z.string().max(500).default('').describe('What was typed so far.'),
    given: z.record(z.string(), z.string()).default({}).describe('Arguments that are filled in already.'),
  }),
  output: z.object({
    values: z.array(z.string()).describe(`At most ${MAX_VALUES}.`),
    total: z.int().describe('How many there are.'),
    hasMore: z.boolean().describe('More than are given.'),
  }),
  async run({ input: { argument, value, given }, caller, ports, signal }) {
    const source = Object.hasOwn(SOURCES, argument) ? SOURCES[argument] : undefined;
    if (source === undefined) return { values: [], total: 0, hasMore: false };
    const needed = (source.from ?? []).flatMap((name) => (given[name] ? [[name, given[name]]] : []));
    const query = { ...source.input, ...Object.fromEntries(needed) };
    const answer = await ports.pipeline.read(source.action, query, caller, signal);
    const rows = answer[source.items] as Record<string, string | undefined>[];
    const typed = value.toLowerCase();
    const found = rows
      .filter((row) =>
        `${row[source.value] ?? ''} ${row['title'] ?? row['name'] ?? ''}`.toLowerCase().includes(typed),
      )
      .map((row) => row[source.value] ?? '');
    return { values: found.slice(0, MAX_VALUES), total: found.length, hasMore: found.length > MAX_VALUES };
  },
});
