import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Envelope } from '../../src/core/call.ts';
import { VOICE_FORMATS } from '../../src/surfaces/voice/vendors.ts';
import { docBlocks } from '../helpers/doc-blocks.ts';
import { startWorld, type World } from '../helpers/world.ts';
import { type Api, createApi } from './helpers/api.ts';

let world: World;
let api: Api;
let directory: string;
/** A token of kind voice. */
let voice: string;
let tokenId: string;

interface Body {
  input?: unknown;
  confirmation?: string;
  context?: Record<string, unknown>;
}
const send = (name: string, { context, ...body }: Body, token = voice) =>
  fetch(`${world.url}/v1/actions/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, context: { surface: 'voice', client: 'kitchen', ...context } }),
  });
const say = async (name: string, body: Body, token?: string) =>
  (await (await send(name, body, token)).json()) as Envelope;
const heard = async (name: string, body: Body) => {
  const envelope = await say(name, body);
  if (envelope.status !== 'approval_required' || envelope.confirmation === undefined) {
    throw new Error(`nothing was read back: ${JSON.stringify(envelope)}`);
  }
  return { ...envelope.confirmation, artifactId: envelope.approval.artifactId };
};
const codeOf = (envelope: Envelope) => (envelope.status === 'error' ? envelope.error.code : envelope.status);
const tools = (query: string, headers: Record<string, string> = {}, token = voice) =>
  fetch(`${world.url}/v1/surfaces/voice/tools${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
const titleOf = async (sessionId: string) => (await api.output('session.status.get', { sessionId })).title;
const spawn = async (): Promise<string> =>
  (await api.output('session.spawn_new', { agentId: 'demo', directory, title: 'Before' })).sessionId;

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
  directory = join(world.home, 'project');
  mkdirSync(directory);
  const made = await world.cli(['token', 'create', 'kitchen', '--kind', 'voice', '--json']);
  voice = made.json.output.token;
  tokenId = made.json.output.tokenId;
}, 90_000);

afterAll(() => world?.stop(), 60_000);

describe('the token of a voice bridge', () => {
  test('speaks for voice alone, is listed and can be revoked', async () => {
    for (const surface of ['cli', 'app', 'mcp', 'agent']) {
      expect([surface, codeOf(await say('session.list', { context: { surface } }))]).toEqual([
        surface,
        'forbidden',
      ]);
    }
    const refused = await api.call('token.create', { name: 'x', kind: 'voice', surfaces: ['voice', 'cli'] });
    expect(refused).toMatchObject({ status: 'error', error: { code: 'invalid_input' } });
    const { tokens } = await api.output('token.list');
    expect(tokens).toContainEqual(
      expect.objectContaining({ tokenId, kind: 'voice', name: 'kitchen', scope: { surfaces: ['voice'] } }),
    );
    const { token, ...short } = await api.output('token.create', {
      name: 'y',
      kind: 'voice',
      expiresInDays: 1,
    });
    expect(Date.parse(short.expiresAt) - Date.now()).toBeLessThanOrEqual(86_400_000);
    await api.output('token.revoke', { tokenId: short.tokenId });
    expect(codeOf(await say('session.list', {}, token))).toBe('not_authenticated');
  });

  test('decides no approval, and can neither make tokens nor change the policy', async () => {
    const sessionId = await spawn();
    const { artifactId } = await heard('session.title.set', { input: { sessionId, title: 'Mine' } });
    const attempts: [string, unknown][] = [
      ['approval.request.decide', { artifactId, decision: 'approve' }],
      ['approval.grant.create', { artifactId, hours: 1, uses: 1 }],
      ['token.create', { name: 'more' }],
      ['policy.set', { path: 'session.*.voice', value: 'run' }],
    ];
    for (const [actionId, input] of attempts) {
      expect([actionId, codeOf(await say(actionId, { input }))]).toEqual([actionId, 'action_disabled']);
      const wrapped = await say('action.execute', { input: { actionId, input } });
      expect([actionId, codeOf(wrapped)]).toEqual([actionId, 'action_disabled']);
    }
    await api.output('approval.request.decide', { artifactId, decision: 'deny' });
    expect(await titleOf(sessionId)).toBe('Before');
  });
});

describe('the tools', () => {
  test('come in the form of each vendor, under a tag, and follow the policy', async () => {
    for (const format of VOICE_FORMATS) {
      const first = await tools(`?format=${format}`);
      const etag = first.headers.get('etag')!;
      expect(first.status).toBe(200);
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      const body = (await first.json()) as { format: string; tools: unknown[] };
      expect(body.format).toBe(format);
      expect(JSON.stringify(body.tools)).toContain('action_execute');
      expect((await tools(`?format=${format}`, { 'if-none-match': etag })).status).toBe(304);
      await api.output('policy.set', { path: 'session.title.set.voice', value: 'direct' });
      const second = await tools(`?format=${format}`, { 'if-none-match': etag });
      expect(second.status).toBe(200);
      expect(await second.text()).toContain('session_title_set');
      await api.output('policy.unset', { path: 'session.title.set' });
      const { json, stdout } = await world.cli(['voice', 'tools', format, '--json']);
      expect(json.output).toEqual(body);
      expect(stdout).not.toContain('kw_');
      const pasted = await world.cli(['voice', 'tools', format]);
      expect(JSON.parse(pasted.stdout)).toEqual(body.tools);
    }
    const tags = await Promise.all(
      VOICE_FORMATS.map(async (format) => (await tools(`?format=${format}`)).headers.get('etag')),
    );
    expect(new Set(tags).size).toBe(VOICE_FORMATS.length);
  });

  test('of a vendor that is not known, or without a token for voice, are refused', async () => {
    for (const query of ['', '?format=alexa']) {
      const answer = await tools(query, { 'if-none-match': '*' });
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe('invalid_input');
      for (const format of VOICE_FORMATS) expect(error.message).toContain(format);
    }
    expect((await tools('?format=elevenlabs', {}, 'kw_nobody')).status).toBe(401);
    const { token } = await api.output('token.create', { name: 'not voice' });
    expect((await tools('?format=elevenlabs', {}, token)).status).toBe(403);
    const document = await (await fetch(`${world.url}/v1/openapi.json`)).json();
    const { parameters } = (document as { paths: Record<string, { get: { parameters: unknown[] } }> }).paths[
      '/v1/surfaces/voice/tools'
    ]!.get;
    expect(parameters).toMatchObject([{ name: 'format', schema: { enum: VOICE_FORMATS } }]);
  });
});

describe('a call by voice', () => {
  test('that reads answers at once; one that changes is read back, then runs once', async () => {
    const sessionId = await spawn();
    expect(codeOf(await say('session_list', {}))).toBe('ok');
    expect(codeOf(await say('action_read', { input: { actionId: 'session.list' } }))).toBe('ok');
    const call = { input: { sessionId, title: 'By voice' } };
    const first = await send('session_title_set', { ...call, context: { language: 'zh-CN' } });
    expect(first.status).toBe(202);
    const { confirmation, approval } = (await first.json()) as Envelope & { status: 'approval_required' };
    expect(confirmation?.words).toBe(
      `设置会话标题：会话 “Before”，尾号 ${sessionId.slice(-4).split('').join(' ')}；title “By voice”。要执行吗？`,
    );
    expect(await titleOf(sessionId)).toBe('Before');
    const { json } = await world.cli(['approval', 'request', 'list', '--status', 'pending', '--json']);
    expect(json.output.approvals).toContainEqual(
      expect.objectContaining({
        artifactId: approval.artifactId,
        confirmation: { words: confirmation!.words },
      }),
    );
    const yes = { ...call, confirmation: confirmation!.code };
    const [done, again] = [await say('session_title_set', yes), await say('session_title_set', yes)];
    expect(done).toMatchObject({ status: 'ok', output: { sessionId, title: 'By voice' } });
    expect(again).toEqual(done);
    expect(await titleOf(sessionId)).toBe('By voice');
    const { rows } = await api.output('audit.list', { actionId: 'session.title.set', surface: 'voice' });
    const mine = rows.filter((row: { approvalId?: string }) => row.approvalId === approval.artifactId);
    expect(mine.map((row: { outcome: string }) => row.outcome)).toEqual(['ok', 'ok', 'approval_required']);
    expect(JSON.stringify(rows)).not.toContain(confirmation!.code);
    expect(world.output().stdout + world.output().stderr).not.toContain(confirmation!.code);
  });

  test('goes through action_execute as a model fills it in', async () => {
    const sessionId = await spawn();
    const input = { actionId: 'session.title.set', input: JSON.stringify({ sessionId, title: 'Executed' }) };
    const { code } = await heard('action_execute', { input: { ...input, confirmation: '' } });
    const done = await say('action_execute', { input: { ...input, confirmation: code } });
    expect(done).toMatchObject({ status: 'ok', output: { title: 'Executed' } });
  });

  test('that is denied in between does nothing, and one that changed is stale', async () => {
    const sessionId = await spawn();
    const call = { input: { sessionId, title: 'Denied' } };
    const denied = await heard('session.title.set', call);
    const no = await world.cli(['approval', 'request', 'decide', denied.artifactId, 'deny', '--json']);
    expect(no.code).toBe(0);
    const late = await say('session.title.set', { ...call, confirmation: denied.code });
    expect(late).toMatchObject({ status: 'error', error: { code: 'approval_already_decided' } });
    const { code } = await heard('session.title.set', call);
    await api.output('session.title.set', { sessionId, title: 'Changed elsewhere' });
    expect(codeOf(await say('session.title.set', { ...call, confirmation: code }))).toBe('approval_stale');
    expect(await titleOf(sessionId)).toBe('Changed elsewhere');
  });

  test('where the policy asks a person, waits in the inbox and takes no code', async () => {
    const sessionId = await spawn();
    await api.output('policy.set', { path: 'session.title.set.voice', value: 'ask' });
    const call = { input: { sessionId, title: 'Asked' } };
    const asked = await say('session.title.set', { ...call, confirmation: '1234' });
    expect(asked).toMatchObject({ status: 'approval_required', approval: { status: 'pending' } });
    expect(asked).not.toHaveProperty('confirmation');
    await api.output('policy.unset', { path: 'session.title.set' });
    const { artifactId } = (asked as Envelope & { status: 'approval_required' }).approval;
    const { json } = await world.cli(['approval', 'request', 'decide', artifactId, 'approve', '--json']);
    expect(json.output.result).toMatchObject({ status: 'ok' });
    expect(await titleOf(sessionId)).toBe('Asked');
  });

  test('that asks a person for approval is read back as well, and cannot be agreed to by voice', async () => {
    const sessionId = await spawn();
    const wanted = { sessionId, title: 'By a person' };
    const call = { input: { actionId: 'session.title.set', input: wanted } };
    const { code } = await heard('approval.request.create', call);
    const filed = await say('approval.request.create', { ...call, confirmation: code });
    expect(filed).toMatchObject({ status: 'ok', output: { status: 'pending' } });
    const again = await heard('session.title.set', { input: wanted });
    const { artifactId } = (filed as Envelope & { status: 'ok' }).output as { artifactId: string };
    expect(again.artifactId).not.toBe(artifactId);
    await say('session.title.set', { input: wanted, confirmation: again.code });
    expect((await api.output('approval.request.get', { artifactId })).status).toBe('pending');
  });

  test('goes as the page about it shows', async () => {
    const blocks = docBlocks('voice.md');
    const sessionId = await spawn();
    const real = (name: string, code = '') => {
      const text = JSON.stringify(blocks.get(name));
      return JSON.parse(text.replaceAll('sess_0123456789abcdef', sessionId).replace('4711', code)) as Body;
    };
    const keysOf = (value: object) => Object.keys(value).sort();
    const first = (await say('session_title_set', real('body 1'))) as Envelope & {
      status: 'approval_required';
    };
    const shown = blocks.get('answer 1') as typeof first;
    expect(keysOf(first)).toEqual(keysOf(shown));
    expect(keysOf(first.approval)).toEqual(keysOf(shown.approval));
    expect(keysOf(first.confirmation!)).toEqual(keysOf(shown.confirmation!));
    expect(first.approval.summary).toBe(shown.approval.summary.replace('sess_0123456789abcdef', sessionId));
    const done = await say('session_title_set', real('body 2', first.confirmation!.code));
    expect(done).toMatchObject({ status: 'ok', output: { sessionId, title: 'Nightly build' } });
  });

  test('speaks with the demo agent', async () => {
    const sessionId = await spawn();
    const call = { input: { sessionId, message: 'say hello there', wait: true, timeoutSeconds: 30 } };
    const { code, words } = await heard('session_message_send', call);
    expect(words).toContain('"say hello there"');
    const done = await say('session_message_send', { ...call, confirmation: code });
    expect(done).toMatchObject({ status: 'ok', output: { status: 'completed', reply: 'hello there' } });
  });
});
