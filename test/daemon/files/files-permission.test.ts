import { expect, test } from 'vitest';
import { isFileSending } from '../../../src/daemon/session/own-tools.ts';
import { createWorld, fakeAgent } from '../helpers/world.ts';

const TOOL = 'send_file_to_user';

test.each(['default', 'accept_edits'] as const)(
  'an agent of mode %s that asks whether it may send a file is not kept waiting, and its report names no file',
  async (permissionMode) => {
    const world = await createWorld({ agents: [fakeAgent('permits')] });
    await world.start('s1', 'permits', { permissionMode });
    const call = { title: `mcp__kaiwu__${TOOL}`, kind: 'other', rawInput: { path: 'canary.txt' } };
    const { reply } = await world.turn('s1', JSON.stringify(call));
    expect(JSON.parse(reply)).toMatchObject({ outcome: 'selected', optionId: 'a1' });
    const said = world.backend.events('s1').filter(({ type }) => type !== 'user_message');
    expect(said.map(({ type }) => type)).toContain('permission_resolved');
    expect(JSON.stringify(said)).not.toContain('canary');
  },
);

test.each([
  [{ title: `mcp__kaiwu__${TOOL}`, kind: 'other' }, true],
  [{ title: `${TOOL} (kaiwu MCP Server)`, kind: 'other' }, true],
  [{ title: `kaiwu_${TOOL}`, kind: 'other' }, true],
  [{ title: `kaiwu/${TOOL}`, kind: 'other' }, true],
  [{ title: `Call ${TOOL}`, kind: 'other' }, true],
  // What a model wrote neither hides nor allows anything.
  [{ title: TOOL, kind: 'execute' }, false],
  [{ title: TOOL, kind: 'edit' }, false],
  [{ title: TOOL }, false],
  [{ title: `rm -rf / # ${TOOL}`, kind: 'other' }, false],
  [{ title: `${TOOL}; rm -rf /`, kind: 'other' }, false],
  [{ title: `mcp__evil__${TOOL}`, kind: 'other' }, false],
  [{ title: `mcp__kaiwu__${TOOL}\nrm`, kind: 'other' }, false],
])('%j is a file that is sent: %s', (call, expected) => {
  expect(isFileSending(call)).toBe(expected);
});
