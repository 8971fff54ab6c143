import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TOOL_NAME, toManagedNames } from '../../../src/core/managed/names.ts';
import { makeUniqueName, MAX_SERVER_NAME } from '../../../src/core/managed/unique-name.ts';
import { toPolicyChange } from '../../../src/core/policy-path.ts';
import { SURFACES } from '../../../src/core/spec.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const names = (server: string, tool: string) => toManagedNames(server, tool, sha256);

describe('names of managed tools', () => {
  it('are kept where they fit, and are known for good', () => {
    expect(names('home', 'turn_on')).toEqual({
      actionId: 'managed.home.turn_on',
      toolName: 'home__turn_on',
      slug: 'turn_on',
    });
    // A grant, a rule and a person's habit hold on to these.
    expect(names('home', 'a.b').slug).toBe('a_b_x2e7336dc');
    expect(names('home', '漢字').slug).toMatch(/^_x[0-9a-f]{8}$/);
  });

  it('fit with the prefix of hosts, and stay apart, where only the start differs', () => {
    const server = makeUniqueName('s'.repeat(31), []);
    const rest = 'very_long_name_of_a_tool_that_goes_on_and_on';
    const [create, remove] = [`creat${rest}`, `delet${rest}`].map((tool) => names(server, tool).toolName);
    expect(create).not.toBe(remove);
    for (const name of [create!, remove!]) expect(`mcp__kaiwu__${name}`.length).toBeLessThanOrEqual(64);
  });

  it.each([...SURFACES, 'enabled', 'approval', 'exposure', 'Agent'])(
    '%s is no last word of a policy path',
    (word) => {
      const { actionId } = names('home', word);
      expect(toPolicyChange({ path: `${actionId}.mcp`, value: 'deny' })).toEqual({
        [actionId]: { mcp: { enabled: false } },
      });
      expect(actionId).not.toBe(`managed.home.${word}`);
    },
  );

  it('a name that looks like a shortened one cannot stand for it', () => {
    const shortened = names('home', 'a.b').slug;
    expect(names('home', shortened).slug).not.toBe(shortened);
  });

  const server = fc
    .string({ unit: fc.constantFrom(...'aB_-.1 é漢') })
    .map((wanted) => makeUniqueName(wanted, []));
  const toolName = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab_.-x0f'), maxLength: 70 }));

  it('no two tools share a name, whatever the servers are called', () => {
    fc.assert(
      fc.property(server, toolName, server, toolName, (serverA, toolA, serverB, toolB) => {
        const [a, b] = [names(serverA, toolA), names(serverB, toolB)];
        for (const { toolName: name, actionId } of [a, b]) {
          expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]*$/);
          expect(name.length).toBeLessThanOrEqual(MAX_TOOL_NAME);
          expect(actionId.split('.')).toHaveLength(3);
        }
        const same = serverA === serverB && toolA === toolB;
        expect([a.actionId === b.actionId, a.toolName === b.toolName]).toEqual([same, same]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('names of servers', () => {
  it('never hold what parts a server from its tool', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...'aA_-2 ') }), { maxLength: 12 }),
        (wanted) => {
          const taken: string[] = [];
          for (const name of wanted) taken.push(makeUniqueName(name, taken));
          for (const name of taken) {
            expect(name).toMatch(/^[A-Za-z](?:[A-Za-z0-9-]|_(?!_|$))*$/);
            expect(name.length).toBeLessThanOrEqual(MAX_SERVER_NAME);
          }
          expect(new Set(taken.map((name) => name.toLowerCase())).size).toBe(taken.length);
        },
      ),
    );
  });

  it.each([
    ['Home Assistant', 'Home-Assistant'],
    ['Zuhause für Ürsüla', 'Zuhause-fur-Ursula'],
    ['@scope/server', 'scope-server'],
    ['__proto__', 'proto'],
    ['漢字', 'unnamed'],
    ['', 'unnamed'],
    ['x'.repeat(64), 'x'.repeat(32)],
  ])('%j becomes %s', (wanted, name) => {
    expect(makeUniqueName(wanted, [])).toBe(name);
  });
});
