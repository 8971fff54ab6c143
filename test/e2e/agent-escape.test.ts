import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bareEnv, KAIWU, makeFolder } from '../helpers/kaiwu.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';

let world: World;
let api: Api;
let directory: string;

beforeAll(async () => {
  const home = await makeFolder('kaiwu-escape-');
  const bin = join(home, 'bin');
  directory = join(home, 'project');
  for (const folder of [bin, directory]) mkdirSync(folder);
  // It stands in for a real agent under that agent's program name.
  copyFileSync(join(import.meta.dirname, 'fakes/escaping-agent.mjs'), join(bin, 'codex-acp'));
  chmodSync(join(bin, 'codex-acp'), 0o755);
  writeFileSync(join(bin, 'escaping-agent.json'), JSON.stringify([home, KAIWU]));
  writeFileSync(join(bin, 'package.json'), '{"type":"module"}');
  world = await startWorld({ home, env: { PATH: `${bin}:${bareEnv(home).PATH}` } });
  api = createApi(world);
}, 90_000);

afterAll(() => world?.stop(), 60_000);

it('an agent with a shell and the credential file approves nothing, makes no token and changes no policy', async () => {
  const online = async () =>
    (await api.output('machines.list')).machines?.some((machine: { online: boolean }) => machine.online);
  await expect.poll(online, { timeout: 30_000 }).toBe(true);
  const { sessionId } = await api.output('session.spawn_new', { agentId: 'codex', directory });
  const { artifactId } = await api.output('approval.request.create', {
    actionId: 'session.archive',
    input: { sessionId },
  });
  const turn = await api.output('session.message.send', {
    sessionId,
    message: `decide ${artifactId}`,
    wait: true,
    timeoutSeconds: 50,
  });
  const tried = JSON.parse(turn.reply as string) as Record<string, string>;
  expect(Object.keys(tried)).toHaveLength(12);
  const { 'written, then gone': gone, ...answered } = tried;
  expect(gone).toBe('gone');
  for (const [name, outcome] of Object.entries(answered)) {
    expect([
      name,
      ['action_disabled', 'permission_escalation_denied', 'invalid_input'].includes(outcome)
        ? 'refused'
        : outcome,
    ]).toEqual([name, 'refused']);
  }
  expect(await api.output('approval.request.get', { artifactId })).toMatchObject({ status: 'pending' });
  expect((await api.output('token.list')).tokens).toEqual([]);
  expect((await api.output('policy.get')).rules).toEqual({});
  const refusals = async () => {
    const { rows } = await api.output('audit.list', {
      code: 'permission_escalation_denied',
      order: 'oldest',
    });
    return (rows as { actionId: string }[]).map(({ actionId }) => actionId);
  };
  // From 127.0.0.2, gone, three by HTTP, with the inherited environment, a token, the policy, a sign-in, a sign-out.
  await expect.poll(async () => (await refusals()).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(8);
  expect(await refusals()).toEqual(expect.arrayContaining(['auth.bootstrap', 'auth.logout']));
  expect(await api.output('approval.request.get', { artifactId })).toMatchObject({ status: 'pending' });

  // The same credential in the hands of a person's own process is good.
  const { code } = await world.cli(['approval', 'request', 'decide', artifactId, 'approve']);
  expect(code).toBe(0);
});
