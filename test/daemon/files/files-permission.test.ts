import { expect, test } from 'vitest';
import { isFileSending } from '../../../src/daemon/session/own-tools.ts';
import { createToolCalls } from '../../../src/daemon/session/tool-calls.ts';
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

const mcpCall = (server: string, tool = TOOL) => ({
  title: `mcp.${server}.${tool}`,
  kind: 'execute',
  rawInput: { server, tool, arguments: { path: 'canary.txt' } },
  _meta: { is_mcp_tool_call: true },
});

test.each([
  [{ title: `mcp__kaiwu__${TOOL}`, kind: 'other' }, true],
  [{ title: `${TOOL} (kaiwu MCP Server)`, kind: 'other' }, true],
  [{ title: `kaiwu_${TOOL}`, kind: 'other' }, true],
  [{ title: `kaiwu.${TOOL}`, kind: 'other' }, true],
  [mcpCall('kaiwu'), true],
  // What a model wrote neither hides nor allows anything.
  [{ title: TOOL, kind: 'execute' }, false],
  [{ title: `mcp__kaiwu__${TOOL}`, kind: 'execute' }, false],
  [{ title: `mcp__kaiwu__${TOOL}`, kind: 'edit' }, false],
  [{ title: `mcp__kaiwu__${TOOL}` }, false],
  [{ title: `rm -rf / # ${TOOL}`, kind: 'other' }, false],
  [{ title: `mcp__kaiwu__${TOOL}; rm -rf /`, kind: 'other' }, false],
  [{ title: `mcp__kaiwu__${TOOL}\nrm`, kind: 'other' }, false],
  [{ ...mcpCall('kaiwu'), _meta: undefined }, false],
  [{ ...mcpCall('kaiwu'), rawInput: { command: 'rm', tool: TOOL } }, false],
  // Another server may call a tool of its own the same.
  [{ title: TOOL, kind: 'other' }, false],
  [{ title: `Call ${TOOL}`, kind: 'other' }, false],
  [{ title: `mcp__evil__${TOOL}`, kind: 'other' }, false],
  [{ title: `evil_${TOOL}`, kind: 'other' }, false],
  [{ title: `${TOOL} (evil MCP Server)`, kind: 'other' }, false],
  [{ title: `${TOOL} (kaiwu MCP Server) (evil MCP Server)`, kind: 'other' }, false],
  [mcpCall('evil'), false],
  [mcpCall('kaiwu', 'another_tool'), false],
  [{ ...mcpCall('evil'), title: `mcp.kaiwu.${TOOL}` }, false],
])('%j is a file that is sent: %s', (call, expected) => {
  expect(isFileSending(call)).toBe(expected);
});

test('a tool of the same name of another server is asked about, and reported as it is', async () => {
  const world = await createWorld({ agents: [fakeAgent('permits')] });
  await world.start('s1', 'permits', { permissionMode: 'default' });
  const call = { title: TOOL, kind: 'other', rawInput: { path: 'canary.txt' } };
  await world.send('s1', JSON.stringify(call));
  const { request } = await world.backend.event('s1', 'permission_requested');
  expect(request).toMatchObject({ title: TOOL });
  expect(world.backend.events('s1').map(({ type }) => type)).not.toContain('permission_resolved');
});

test('what is known to be a file that is sent stays that when its agent says no more than how it ended', async () => {
  const { merge } = createToolCalls('m1');
  const first = merge({ toolCallId: 't1', status: 'in_progress', ...mcpCall('kaiwu') });
  // As Codex asks whether it may.
  const asked = merge({ toolCallId: 't1', status: 'pending', kind: 'execute' });
  expect(isFileSending(asked.known)).toBe(true);
  const last = merge({ toolCallId: 't1', status: 'completed', rawOutput: { path: 'canary.txt' } });
  expect(JSON.stringify([first, asked, last])).not.toContain('canary');
  expect(last.event).toMatchObject({ title: `kaiwu.${TOOL}`, status: 'completed' });
  // A later claim to be a command is shown as one.
  const rawInput = { command: 'rm' };
  const claimed = merge({ toolCallId: 't1', kind: 'execute', title: 'rm', rawInput });
  expect(claimed.event).toMatchObject({ title: 'rm', content: { rawInput } });
});
