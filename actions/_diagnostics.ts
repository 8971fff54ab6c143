import * as z from 'zod';
import type { Caller } from '../src/core/call.ts';
import type { ErrorCode } from '../src/core/errors.ts';
import type { SurfaceRule } from '../src/core/policy.ts';
import type { AuditRow } from '../src/core/ports/governance.ts';
import type { ActionPorts } from '../src/core/ports/index.ts';
import type { RegistryTool } from '../src/core/registry.ts';
import { SURFACES } from '../src/core/spec.ts';
import { surface } from './_governance.ts';

/** Numbers and names that tell how tools stand, and nothing of what they were called with. */

const count = (what: string) => z.int().describe(what);

const DENIALS: ErrorCode[] = [
  'access_denied',
  'action_disabled',
  'forbidden',
  'permission_escalation_denied',
  'self_approval_forbidden',
];
const KEPT_DENIALS = 50;

const tally = (of: string) =>
  z
    .array(
      z.object({
        of: z.string().describe(of),
        tools: count('Tools.'),
        enabled: count('Those of them that can be called from here now.'),
      }),
    )
    .describe(`By ${of.toLowerCase()}`);

export const inventory = z.object({
  tools: count('All tools.'),
  enabled: count('Those that can be called from here now.'),
  byRoute: tally('Route: native, or mcp:<server>.'),
  byEffect: tally('Effect: read, write or destructive.'),
});

export const writeSurface = z.object({
  surface,
  unasked: count('Tools that change something and run at once.'),
  asks: count('Those that ask a person first.'),
  off: count('Those that cannot be called from there.'),
  destructiveUnasked: z.array(z.string()).describe('Ids of those that destroy something and run at once.'),
});

export const policySummary = z.object({
  version: count('Version of the policy.'),
  rules: count('Actions and families that have a rule.'),
  turnsOn: count('Answers of rules that turn something on, each for one surface.'),
  turnsOff: count('Answers that turn something off.'),
  asks: count('Answers that have a person asked.'),
  asksNobody: count('Answers that have nobody asked.'),
});

export const denial = z.object({
  at: z.string().describe('When, RFC 3339.'),
  toolId: z.string().describe('What was called.'),
  surface: z.string().describe('From where.'),
  client: z.string().describe('By whom, as it calls itself.'),
  code: z.string().describe('Error that it ended in.'),
});

export const providerState = z.object({
  id: z.string().describe('Id.'),
  trustState: z.string().describe('trusted, untrusted or revoked.'),
  enabled: z.boolean().describe('Whether it is on.'),
  counts: z.boolean().describe('Whether it counts: enabled and trusted.'),
});

function toTally(tools: readonly RegistryTool[], key: 'route' | 'effect') {
  const names = [...new Set(tools.map((tool) => tool[key]))].toSorted();
  return names.map((of) => {
    const own = tools.filter((tool) => tool[key] === of);
    return { of, tools: own.length, enabled: own.filter(({ enabled }) => enabled).length };
  });
}

export const toInventory = (tools: readonly RegistryTool[]): z.input<typeof inventory> => ({
  tools: tools.length,
  enabled: tools.filter(({ enabled }) => enabled).length,
  byRoute: toTally(tools, 'route'),
  byEffect: toTally(tools, 'effect'),
});

export const toWriteSurfaces = (ports: ActionPorts, caller: Caller) =>
  Promise.all(
    SURFACES.map(async (of): Promise<z.input<typeof writeSurface>> => {
      const writing = (await ports.discovery.registry(of, caller)).filter(({ effect }) => effect !== 'read');
      const on = writing.filter(({ enabled }) => enabled);
      const unasked = on.filter(({ asks }) => !asks);
      return {
        surface: of,
        unasked: unasked.length,
        asks: on.length - unasked.length,
        off: writing.length - on.length,
        destructiveUnasked: unasked
          .filter(({ effect }) => effect === 'destructive')
          .map(({ toolId }) => toolId),
      };
    }),
  );

export async function toPolicySummary({ policies }: ActionPorts): Promise<z.input<typeof policySummary>> {
  const { version, rules } = await policies.get();
  const answers = Object.values(rules).flatMap((rule) => Object.values(rule));
  const number = (of: (answer: SurfaceRule) => boolean) => answers.filter(of).length;
  return {
    version,
    rules: Object.keys(rules).length,
    turnsOn: number(({ enabled }) => enabled === true),
    turnsOff: number(({ enabled }) => enabled === false),
    asks: number(({ approval }) => approval === true),
    asksNobody: number(({ approval }) => approval === false),
  };
}

/** The newest calls that were refused for what the caller may do, whoever made them. */
export async function toDenials({ audit }: ActionPorts): Promise<z.input<typeof denial>[]> {
  const pages = await Promise.all(DENIALS.map((code) => audit.list({ code }, { limit: KEPT_DENIALS })));
  return pages
    .flatMap(({ items }) => items)
    .toSorted((a, b) => b.auditId - a.auditId)
    .slice(0, KEPT_DENIALS)
    .map(toDenial);
}

const toDenial = ({ at, actionId, surface: from, client, code = '' }: AuditRow): z.input<typeof denial> => ({
  at,
  toolId: actionId,
  surface: from,
  client,
  code,
});
