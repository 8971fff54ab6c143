import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRow } from '../../src/core/ports/governance.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';
import { connectMcp, GENERATIONS, type McpHost, type Output } from './helpers/mcp-host.ts';

const open: { close(): Promise<void> }[] = [];
let world: World;
let api: Api;
let workspace: string;

const connect = (args: string[] = []) =>
  connectMcp(world.env, { args, onEnd: (client) => void open.push(client) });
const spawnDemo = async (): Promise<string> =>
  (await api.output('session.spawn_new', { agentId: 'demo', directory: workspace })).sessionId;
const setRule = (path: string, value: string) => api.output('policy.set', { path, value });
const approvalOf = (artifactId: string): Promise<Output> =>
  api.output('approval.request.get', { artifactId });
const decide = (artifactId: string, decision = 'approve') =>
  world.cli(['approval', 'request', 'decide', artifactId, decision, '--json']);

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  workspace = join(world.home, 'project');
  mkdirSync(workspace);
}, 90_000);

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 90_000);

describe('a gated call', () => {
  const action = 'session.title.set';

  beforeAll(async () => {
    await setRule(`${action}.mcp`, 'ask');
    await setRule(`${action}.cli`, 'ask');
  });
  afterAll(() => api.output('policy.unset', { path: action }));

  test('answers the same notice at every door, and identical ones are one card', async () => {
    const sessionId = await spawnDemo();
    const input = { sessionId, title: 'Asked for' };
    const host = await connect();
    const bound = await connect(['--session', sessionId]);
    const exec = ['action', 'exec', action, '--input', JSON.stringify(input), '--json'];
    const words = ['session', 'title', 'set', sessionId, input.title, '--json'];
    const overCli = [await world.cli(exec), await world.cli(words)];
    expect(overCli.map(({ code }) => code)).toEqual([3, 3]);
    const overHttp = await api.call(action, input);
    const notices: Record<string, Output> = {
      tool: await host.ok('session_title_set', input),
      action_execute: await host.ok('action_execute', { actionId: action, input }),
      alias: await bound.ok('change_title', { title: input.title }),
      'action exec': overCli[0]!.json.approval,
      'own command': overCli[1]!.json.approval,
      HTTP: 'approval' in overHttp ? overHttp.approval : overHttp,
    };

    for (const [door, notice] of Object.entries(notices)) {
      const { artifactId } = notice;
      expect([door, notice]).toEqual([
        door,
        {
          kind: 'approval_request_created',
          artifactId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          actionId: action,
          summary: expect.stringContaining('title: "Asked for"'),
          status: 'pending',
          expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
          decideWith: `kaiwu approval request decide ${artifactId} approve`,
          waitWith: `kaiwu approval request get ${artifactId} --wait-seconds 45`,
          count: expect.any(Number),
          remaining: expect.any(Number),
        },
      ]);
      expect(notice['summary']).toBe(notices['tool']!['summary']);
    }
    const card = (door: string) => [notices[door]!['artifactId'], notices[door]!['count']];
    // A requester is a token and a surface.
    expect(card('action_execute')).toEqual([card('tool')[0], 2]);
    expect(card('HTTP')).toEqual([card('action exec')[0], 3]);
    expect(card('alias')).toEqual([card('tool')[0], 3]);
    expect(new Set([card('tool')[0], card('HTTP')[0]]).size).toBe(2);
    expect((await api.output('session.status.get', { sessionId })).title).toBeUndefined();

    for (const door of ['tool', 'HTTP']) await decide(notices[door]!['artifactId'], 'deny');
  });

  test('its decision and its outcome are told apart, and a reason reaches the requester', async () => {
    const host = await connect();
    const sessionId = await spawnDemo();
    const ask = async (title: string) =>
      (await host.ok('session_title_set', { sessionId, title })).artifactId;
    const approved = await ask('Yes');
    const { json } = await decide(approved);
    expect(json.output).toMatchObject({ executed: true, result: { status: 'ok' } });
    expect((await decide(approved)).json.output).toMatchObject({
      executed: false,
      approval: { status: 'succeeded' },
    });
    const denied = await ask('No');
    const words = ['approval', 'request', 'decide', denied, 'deny', '--reason', 'not on a Friday', '--json'];
    expect((await world.cli(words)).json.output.executed).toBe(false);
    const seen = await host.ok('action_read', {
      actionId: 'approval.request.get',
      input: { artifactId: denied },
    });
    expect(seen).toMatchObject({ status: 'denied', decisionReason: 'not on a Friday' });
    expect((await decide(denied)).json.error.code).toBe('approval_already_decided');
  });

  test('is stale once its session has changed: nothing is done', async () => {
    const host = await connect();
    const sessionId = await spawnDemo();
    const { artifactId } = await host.ok('session_title_set', { sessionId, title: 'Too late' });
    await api.output('session.permission_mode.set', { sessionId, permissionMode: 'plan' });
    expect((await decide(artifactId)).json.error).toMatchObject({ code: 'approval_stale' });
    expect(await approvalOf(artifactId)).toMatchObject({ status: 'failed' });
    expect((await api.output('session.status.get', { sessionId })).title).toBeUndefined();
  });
});

describe('a wait for an approval over MCP', () => {
  const file = async (host: McpHost): Promise<string> => {
    const asked = await host.ok('action_execute', {
      actionId: 'token.create',
      input: { name: `waited for ${open.length}` },
    });
    return asked['artifactId'];
  };
  const toWait = (artifactId: string) => ({
    name: 'action_execute',
    arguments: { actionId: 'approval.request.get', input: { artifactId, waitSeconds: 120 } },
  });
  /** Whatever the host sent before has reached the backend: it is asked over the same connection. */
  const settled = (host: McpHost, artifactId: string) =>
    host.ok('action_execute', { actionId: 'approval.request.get', input: { artifactId } });

  test('tells that it goes on, and the outcome as soon as there is one', async () => {
    const host = await connect();
    const artifactId = await file(host);
    const progress: number[] = [];
    let heard = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const waiting = host.client.callTool(toWait(artifactId), {
      timeout: 100_000,
      onprogress: ({ progress: count }) => {
        progress.push(count);
        heard();
      },
    });
    await first;
    expect((await decide(artifactId)).json.output.executed).toBe(true);
    expect((await waiting).structuredContent).toMatchObject({ artifactId, status: 'succeeded' });
    const told = progress.length;
    expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
    await settled(host, artifactId);
    expect(progress).toHaveLength(told);
  }, 120_000);

  test.each(GENERATIONS)('that the host cancels withdraws the request (%s)', async (_, generation) => {
    const host = await connectMcp(world.env, { generation, onEnd: (client) => void open.push(client) });
    const artifactId = await file(host);
    const canceling = new AbortController();
    const waiting = host.client.callTool(toWait(artifactId), { signal: canceling.signal });
    waiting.catch(() => undefined);
    await settled(host, artifactId);
    canceling.abort();
    await expect(waiting).rejects.toBeInstanceOf(Error);
    await expect
      .poll(async () => (await approvalOf(artifactId))['status'], { timeout: 10_000 })
      .toBe('canceled');
    expect(await approvalOf(artifactId)).toMatchObject({ decisionReason: 'canceled by the caller' });
    const refused = await decide(artifactId);
    expect(refused.json.error.code).toBe('approval_already_decided');
    expect(await settled(host, artifactId)).toMatchObject({ status: 'canceled' });
  });

  test('of a host that dies leaves the request as it is', async () => {
    const host = await connect();
    const artifactId = await file(host);
    const waiting = host.client.callTool(toWait(artifactId));
    waiting.catch(() => undefined);
    await settled(host, artifactId);
    const cutOff = async () => {
      const { rows } = await api.output('audit.list', { actionId: 'approval.request.get', outcome: 'error' });
      return (rows as AuditRow[]).some(
        ({ code, input }) => code === 'canceled' && input['artifactId'] === artifactId,
      );
    };
    expect(await cutOff()).toBe(false);
    process.kill((host.client.transport as StdioClientTransport).pid!, 'SIGKILL');
    await expect.poll(cutOff, { timeout: 10_000 }).toBe(true);
    expect(await approvalOf(artifactId)).toMatchObject({ status: 'pending' });
    expect((await decide(artifactId)).json.output).toMatchObject({ executed: true });
  });
});

describe('who decides', () => {
  const decideBy = (artifactId: string) => ({
    actionId: 'approval.request.decide',
    input: { artifactId, decision: 'approve' },
  });

  test('a host decides what others asked for, and its own only after one command', async () => {
    const host = await connect();
    const sessionId = await spawnDemo();
    const request = JSON.stringify({ sessionId, title: 'By another' });
    const words = ['approval', 'request', 'create', 'session.title.set', '--input', request, '--json'];
    const { artifactId } = (await world.cli(words)).json.output;
    expect(await host.ok('action_execute', decideBy(artifactId))).toMatchObject({ executed: true });
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: 'By another' });

    const own = await host.ok('action_execute', { actionId: 'token.create', input: { name: 'its own' } });
    const refused = await host.error('action_execute', decideBy(own['artifactId']));
    expect(refused['code']).toBe('self_approval_forbidden');
    const command = 'kaiwu policy set approvals.selfDecision.mcp allow';
    expect(refused['hint']).toContain(command);
    expect((await world.cli(command.split(' ').slice(1))).code).toBe(0);
    expect(await host.ok('action_execute', decideBy(own['artifactId']))).toMatchObject({ executed: true });

    expect((await world.cli(['policy', 'unset', 'approvals.selfDecision.mcp'])).code).toBe(0);
    const again = await host.ok('action_execute', { actionId: 'token.create', input: { name: 'once more' } });
    expect((await host.error('action_execute', decideBy(again['artifactId'])))['code']).toBe(
      'self_approval_forbidden',
    );
  });

  test('a grant lets a host run the like without asking, each use with its row, until it is spent', async () => {
    const host = await connect();
    const sessionId = await spawnDemo();
    await setRule('session.title.set.mcp', 'ask');
    const rename = (title: string) => host.ok('session_title_set', { sessionId, title });
    const { artifactId } = await rename('First');
    await decide(artifactId);
    const words = [
      'approval',
      'grant',
      'create',
      artifactId,
      '--pins',
      '{"sessionId":"exact"}',
      '--uses',
      '2',
    ];
    const granted = await world.cli([...words, '--json']);
    const { grantId } = granted.json.output;

    expect(await rename('Second')).toMatchObject({ title: 'Second' });
    const { rows } = await api.output('audit.list', { actionId: 'session.title.set', limit: 1 });
    expect(rows).toMatchObject([{ outcome: 'ok', grantId, input: { title: 'Second' } }]);
    // Another session is not the like.
    const other = await host.ok('session_title_set', { sessionId: await spawnDemo(), title: 'Else' });
    expect(other['kind']).toBe('approval_request_created');
    expect(await approvalOf(other['artifactId'])).toMatchObject({
      nearestGrant: { grantId, reason: expect.stringContaining('sessionId') },
    });
    expect(await rename('Third')).toMatchObject({ title: 'Third' });
    expect(await rename('Fourth')).toMatchObject({ kind: 'approval_request_created' });
    expect(await host.ok('session_status_get', { sessionId })).toMatchObject({ title: 'Third' });

    const command = ['approval', 'grant', 'revoke', grantId, '--json'];
    expect((await world.cli(command)).json.output.revokedAt).toBeDefined();
    await api.output('policy.unset', { path: 'session.title.set' });
  });
});

test('a change of the policy reaches an open host at once, and judges its next call', async () => {
  const host = await connect();
  expect(await host.names()).toContain('session_title_set');
  const changed = host.listChanged();
  await setRule('session.title.set.mcp', 'deny');
  const startedAt = performance.now();
  // Whatever list the host still holds.
  expect(await host.error('session_title_set', { sessionId: 'sess_x', title: 'x' })).toMatchObject({
    code: 'action_disabled',
    details: { reason: 'disabled_by_policy' },
  });
  await changed;
  expect(performance.now() - startedAt).toBeLessThan(5000);
  expect(await host.names()).not.toContain('session_title_set');
  await api.output('policy.unset', { path: 'session.title.set' });
});
