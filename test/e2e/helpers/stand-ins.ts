import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ActionExample } from '../../../src/core/spec.ts';
import type { Api } from './api.ts';
import { createMcpStandIns } from './mcp-stand-ins.ts';
import { addPasskey } from './passkey-stand-in.ts';
import { createWebStandIns } from './web-stand-ins.ts';

/** What the examples name and who makes the real thing, anew for each call, since calls change it. */
type Makers = Record<string, (actionId: string) => Promise<string>>;

/** What must be so before an example can work; answers the example as it fits then. */
// oxlint-disable-next-line typescript/no-explicit-any -- each knows its own example
type Preparations = Record<string, (input: any) => Promise<unknown>>;

/** Makes an example's input one that works here. */
export interface StandIns {
  toInput(actionId: string, example: ActionExample): Promise<unknown>;
  end(): Promise<void>;
}

export function createStandIns(api: Api, directory: string): StandIns {
  const mcp = createMcpStandIns(api);
  const web = createWebStandIns(api);
  const spawn = async () =>
    (await api.output('session.spawn_new', { agentId: 'demo', directory })).sessionId as string;
  const request = async (surface = 'cli') => {
    const input = { actionId: 'session.archive', input: { sessionId: await spawn() } };
    const envelope = await api.call('approval.request.create', input, surface);
    if (envelope.status !== 'ok') throw new Error(JSON.stringify(envelope));
    return envelope.output['artifactId'] as string;
  };
  const approved = async () => {
    const artifactId = await request();
    await api.output('approval.request.decide', { artifactId, decision: 'approve' });
    return artifactId;
  };
  const makers: Makers = {
    sess_123: async (actionId) => {
      const sessionId = await spawn();
      const asks = ASKS[actionId];
      if (asks !== undefined) await untilWaiting(api, sessionId, asks);
      // A conversation of which nothing was said yet is none to go on with.
      if (actionId === 'session.fork') {
        await api.output('session.message.send', { sessionId, message: 'say hello', wait: true });
      }
      return sessionId;
    },
    '/home/me/project': async () => directory,
    '2765bc88-69ea-4316-9085-290ce5b3a3b6': (actionId) => {
      if (actionId === 'approval.grant.create') return approved();
      // A host withdraws what hosts asked for; a person anything.
      return request(actionId === 'approval.request.cancel' ? 'mcp' : 'cli');
    },
    // Over, so that it is the same for every door; one to be waited for ends by itself.
    run_123: async () => {
      const plan = JSON.stringify({ summary: 'Short.', steps: [{ title: 'One' }], risks: [] });
      const { runId } = await api.output('execution.run.start', {
        sessionId: await spawn(),
        intent: 'plan',
        backendTarget: { kind: 'builtInAgent', agentId: 'demo' },
        instructions: `@say ${plan}`,
        waitForCompletion: true,
      });
      return runId as string;
    },
    grant_123: async () =>
      (await api.output('approval.grant.create', { artifactId: await approved() })).grantId as string,
    file_0123456789abcdef: async () => {
      await writeFile(join(directory, 'sent.txt'), 'sent');
      return (await api.output('file.send', { sessionId: await spawn(), path: 'sent.txt' })).fileId as string;
    },
    pk_123: () => addPasskey(api),
    tok_123: async () => (await api.output('token.create', { name: 'for a test' })).tokenId as string,
    'BCDF-GHJK': async () => (await deviceCode(api)).user_code!,
    dev_123: async () => {
      const { user_code: userCode, device_code } = await deviceCode(api);
      await api.output('device.approve', { userCode });
      const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
      return (await api.post('/v1/auth/device/token', { grant_type, device_code })).device_id!;
    },
  };

  /** One that is there already is as good. */
  const provided = async (input: { id: string }) => {
    await api.call('capability.provider.add', { id: input.id, displayName: 'Acme Tools' });
    return input;
  };

  const preparations: Preparations = {
    ...mcp.preparations,
    ...web.preparations,
    // Only a document of the current version is taken.
    'policy.import': async (input) => {
      const { version } = await api.output('policy.get');
      return { ...input, document: { ...input.document, version } };
    },
    'file.send': async (input) => {
      await writeFile(join(directory, input.path), '# Report');
      return input;
    },
    'capability.provider.add': async (input) => {
      await api.call('capability.provider.remove', { id: input.id });
      return input;
    },
    'capability.provider.update': provided,
    'capability.provider.remove': provided,
    'agent.subagent.remove': async (input) => {
      const words = { name: 'Release notes', description: 'Writes them.', prompt: 'Write for users.' };
      await api.output('agent.subagent.set', { ...input, ...words, intent: 'delegate' });
      return input;
    },
    // Only a rule that is there can be taken back.
    'policy.unset': async (input) => {
      await api.output('policy.set', { path: input.path, value: 'ask' });
      return input;
    },
  };

  async function replace(value: unknown, actionId: string): Promise<unknown> {
    if (typeof value === 'string') return (await makers[value]?.(actionId)) ?? value;
    if (Array.isArray(value)) return Promise.all(value.map((item) => replace(item, actionId)));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(async ([key, item]) => [key, await replace(item, actionId)]);
    return Object.fromEntries(await Promise.all(entries)) as unknown;
  }

  return {
    async toInput(actionId, example) {
      const input = await replace(example.input, actionId);
      return (await preparations[actionId]?.(input)) ?? input;
    },
    end: async () => {
      await mcp.end();
      await web.end();
    },
  };
}

const deviceCode = (api: Api) => api.post('/v1/auth/device/code', { device_name: 'a test' });

/** What makes the demo agent wait for what an action answers. */
const ASKS: Record<string, string> = {
  'session.permission.respond': 'ask to go on',
  'session.user_action.answer': 'question Which one?',
};

async function untilWaiting(api: Api, sessionId: string, message: string): Promise<void> {
  await api.output('session.message.send', { sessionId, message });
  const status = async () => (await api.output('session.status.get', { sessionId })).status as string;
  await expect.poll(status, { timeout: 20_000, interval: 50 }).toBe('waiting');
}
