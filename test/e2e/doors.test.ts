import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import type { Envelope } from '../../src/core/call.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import type { AuditRow } from '../../src/core/ports/governance.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';
import { connectHost, createDoors, type Door } from './helpers/doors.ts';
import { createStandIns, type StandIns } from './helpers/stand-ins.ts';

let world: World;
let api: Api;
let host: Client;
let doors: Record<'mcp' | 'cli', Record<string, Door>>;
let standIns: StandIns;

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  host = await connectHost(world);
  doors = createDoors(world, api, host);
  const directory = join(world.home, 'project');
  mkdirSync(directory);
  standIns = createStandIns(api, directory);
  await resetPolicy();
}, 90_000);

/** Nothing but this: no rule of an example, and room for every request that the doors file. */
const resetPolicy = () =>
  api.output('policy.set', { rules: { 'session.archive': null }, settings: { maxPendingApprovals: 1000 } });

afterEach(async ({ task }) => {
  if (task.name.startsWith('policy.')) await resetPolicy();
});

afterAll(async () => {
  await host?.close();
  await standIns?.end();
  await world?.stop();
}, 60_000);

const { actions } = createCatalog(registry);

/** Ids, times and the like differ from call to call; what a door may not change is what is left. */
const BY_CALL =
  /sess_[a-z0-9]+|msg_\w+|(tok|dev|mach|grant|file)_[a-z0-9]+|[0-9a-f-]{36}|[A-Z]{4}-[A-Z]{4}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

const withoutIds = (text: string) => text.replaceAll(BY_CALL, 'X');

/** The same for every door: kind of answer, code, text, and which fields come back. */
function toShape(envelope: Envelope, input: unknown): unknown {
  if (envelope.status === 'error') {
    const { code, message, hint = '' } = envelope.error;
    return { code, message: withoutIds(message), hint: withoutIds(hint) };
  }
  if (envelope.status === 'approval_required') return { asks: withoutIds(envelope.approval.summary) };
  const kindOf = (value: unknown) => (Array.isArray(value) ? 'list' : typeof value);
  // A turn may be over before a call that does not wait for it has its answer.
  const { wait = false } = input as { wait?: boolean };
  const fields = Object.entries(envelope.output).filter(([key]) => wait || key !== 'reply');
  return { ok: fields.map(([key, value]) => `${key}: ${kindOf(value)}`) };
}

/** The newest row of an action, without what tells the channel and the moment. */
async function auditOf(actionId: string): Promise<unknown> {
  const { rows } = (await api.output('audit.list', { actionId, limit: 1 })) as { rows: AuditRow[] };
  const { effect, outcome, code, surface } = rows[0]!;
  return { effect, outcome, code, surface };
}

async function through(door: Door, actionId: string, input: unknown) {
  const envelope = await door(actionId, input);
  return { answer: toShape(envelope, input), audit: await auditOf(actionId) };
}

/** Their own commands do more than the action and answer with that: this one saves the file, decrypted, and says where. */
const DOES_MORE = new Set(['file.get']);

describe.each(['mcp', 'cli'] as const)('every door of %s is the same door', (surface) => {
  const here = actions.filter(
    ({ surfaces, forward }) => surfaces[surface] !== undefined && forward === undefined,
  );

  it.each(here.map((action) => [action.id, action] as const))('%s', async (id, action) => {
    for (const example of action.examples) {
      const seen: Record<string, unknown> = {};
      for (const [name, door] of Object.entries(doors[surface])) {
        seen[name] = await through(door, id, await standIns.toInput(id, example));
      }
      const [[firstName, first], ...others] = Object.entries(seen) as [
        [string, { answer: object }],
        ...[string, unknown][],
      ];
      expect([firstName, 'code' in first.answer ? first.answer : 'fine']).toEqual([firstName, 'fine']);
      if (DOES_MORE.has(id)) continue;
      for (const [name, other] of others) expect([name, other]).toEqual([name, first]);
    }
  });

  it.each(here.map(({ id }) => id))('%s refuses bad input alike', async (id) => {
    const action = actions.find((known) => known.id === id)!;
    const wrong = {
      ...action.examples[0]!.input,
      ...(action.effect === 'read' ? {} : { dryrun: true }),
      sessionId: 'sess_nobody',
    };
    // A command line has its own words for a flag that does not exist.
    const { 'own command': _, ...raw } = doors[surface];
    const shapes = await Promise.all(
      Object.values(raw).map(async (door) => toShape(await door(id, wrong), wrong)),
    );
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  });
});

describe('action_read', () => {
  it('reaches reads with the same result and nothing else', async () => {
    const direct = await host.callTool({ name: 'machines_list', arguments: {} });
    const read = await host.callTool({ name: 'action_read', arguments: { actionId: 'machines.list' } });
    const names = (result: typeof read) =>
      (result.structuredContent as { machines: { machineId: string }[] }).machines.map(
        ({ machineId }) => machineId,
      );
    expect(names(read)).toEqual(names(direct));
    expect(names(read)).toHaveLength(1);
    const refused = await host.callTool({
      name: 'action_read',
      arguments: { actionId: 'session.stop', input: {} },
    });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.structuredContent)).toContain('must be an action that only reads');
  });
});
