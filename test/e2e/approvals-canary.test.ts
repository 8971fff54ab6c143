import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';
import { connectMcp, type McpHost } from './helpers/mcp-host.ts';

/** In every secret below, and nowhere else: where it is found, a secret has got out. */
const CANARY = 'c4n4ryB1rd';

/** What looks like a credential, in the ways that people and programs write it. */
const SECRETS = [
  `kw_${CANARY}_0123456789`,
  `sk-${CANARY}0123456789`,
  `ghp_${CANARY}0123456789abcdef`,
  `Authorization: Bearer ${CANARY}.0123456789`,
  `password=${CANARY}`,
  `--api-key ${CANARY}`,
  `https://me:${CANARY}@example.test/`,
  `eyJ${CANARY}.${CANARY}0.signature`,
];
const TEXT = SECRETS.join(' and ');

let world: World;
let api: Api;
let host: McpHost;
let sessionId: string;
const open: { close(): Promise<void> }[] = [];
/** Everything that any door has answered, with a name for each. */
const answers: [string, unknown][] = [];

beforeAll(async () => {
  world = await startWorld({ env: { KAIWU_LOG: 'debug' } });
  api = createApi(world);
  const directory = join(world.home, 'project');
  await mkdir(directory);
  sessionId = (await api.output('session.spawn_new', { agentId: 'demo', directory })).sessionId;
  await api.output('policy.set', {
    rules: {
      'session.message.send': { mcp: { approval: true }, cli: { approval: true } },
      'session.title.set': { mcp: { approval: true } },
    },
  });
  host = await connectMcp(world.env, { onEnd: (client) => void open.push(client) });
}, 90_000);

afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await world?.stop();
}, 60_000);

const hear = async (name: string, answer: Promise<unknown>) => {
  const heard = await answer;
  answers.push([name, heard]);
  return heard;
};
const callTool = (name: string, input: Record<string, unknown>) =>
  hear(`tool ${name}`, host.client.callTool({ name, arguments: input })) as Promise<{
    // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the test is about
    structuredContent: any;
  }>;
const cli = (...args: string[]) =>
  hear(
    args.slice(0, 4).join(' '),
    world.cli(args).then(({ stdout, stderr }) => ({ stdout, stderr })),
  );

/** Where a text has the canary, with what stands around it. */
const leaksOf = (name: string, text: string): string[] =>
  [...text.matchAll(new RegExp(`.{0,60}${CANARY}`, 'g'))].map(([around]) => `${name}: ${around}`);

test('what looks like a credential in an input is in no answer, audit row, log or page of approvals in clear', async () => {
  const message = `say ${TEXT}`;
  const { structuredContent: asked } = await callTool('session_message_send', { sessionId, message });
  const { artifactId } = asked;
  expect(asked.kind).toBe('approval_request_created');
  await callTool('session_title_set', { sessionId, title: TEXT.slice(0, 180) });
  await cli('session', 'message', 'send', sessionId, message);
  await hear('HTTP', api.call('session.message.send', { sessionId, message }, 'mcp'));

  for (const args of [['list'], ['list', '--json'], ['get', artifactId], ['get', artifactId, '--json']]) {
    await cli('approval', 'request', ...args);
  }
  for (const actionId of ['approval.request.list', 'approval.request.get']) {
    const input = actionId.endsWith('get') ? { artifactId } : {};
    await callTool('action_read', { actionId, input });
    await hear(`${actionId} over HTTP`, api.call(actionId, input));
  }
  await cli('approval', 'request', 'decide', artifactId, 'approve', '--reason', TEXT, '--json');
  const approval = await hear('what was approved', api.output('approval.request.get', { artifactId }));
  expect(approval).toMatchObject({ status: 'succeeded', input: { sessionId } });

  await hear('the grant', api.output('approval.grant.create', { artifactId }));
  await cli('approval', 'grant', 'list', '--json');
  // What was reviewed is what ran, and what a grant is held to: clear inside, hidden outside.
  const { structuredContent: sent } = await callTool('session_message_send', { sessionId, message });
  expect(sent.messageId).toBeDefined();
  await api.output('session.wait.idle', { sessionId, timeoutSeconds: 30 });
  const { events } = await api.output('session.transcript.get', { sessionId, types: ['user_message'] });
  expect(events.map(({ text }: { text: string }) => text)).toEqual([message, message]);

  for (const secret of SECRETS) {
    await callTool('session_message_send', { sessionId, message: 'x', timeoutSeconds: secret });
    await callTool('session_status_get', { sessionId: secret });
    await callTool('action_execute', { actionId: secret, input: { x: secret } });
    await hear('a wrong id over HTTP', api.call(encodeURIComponent(secret), { x: secret }));
    await hear('a client of that name', api.call('machines.list', {}, secret));
    const exec = (actionId: string, input: object) =>
      cli('action', 'exec', actionId, '--input', JSON.stringify(input));
    await exec('session.message.send', { sessionId: secret, message: secret });
    await exec('approval.request.get', { artifactId: secret });
    await exec(`x ${secret}`, {});
  }
  await cli('audit', 'list', '--limit', '200', '--json');
  await hear('audit over HTTP', api.call('audit.list', { limit: 200 }));
  await cli('policy', 'explain', 'session.message.send', '--input', JSON.stringify({ sessionId, message }));

  expect(answers.flatMap(([name, answer]) => leaksOf(name, JSON.stringify(answer)))).toEqual([]);
  const { stdout, stderr } = world.output();
  expect(leaksOf('kaiwu up', stdout + stderr)).toEqual([]);
  const logs = join(world.home, 'logs');
  const files = readdirSync(logs);
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap((file) => leaksOf(file, readFileSync(join(logs, file), 'utf8')))).toEqual([]);
}, 120_000);
