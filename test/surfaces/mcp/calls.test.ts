import { describe, expect, test } from 'vitest';
import type { ApprovalNotice } from '../../../src/core/call.ts';
import { modernMeta, until } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();

const NOTICE: ApprovalNotice = {
  kind: 'approval_request_created',
  artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6',
  actionId: 'session.message.send',
  summary: 'Send a message',
  status: 'pending',
  expiresAt: '2030-01-01T00:00:00Z',
  decideWith: 'kaiwu approval decide',
  waitWith: 'approval.get',
  count: 1,
  remaining: 19,
};

/** An answer that a test gives when it likes. */
function held<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('a call', () => {
  test('goes to the backend under the name and with the arguments that the host gave', async () => {
    const backend = await setup.backend();
    const host = await setup.host({ sessionId: 'sess_default', machineId: 'mach_1' });
    await host.initialize('2025-11-25', 'Claude Code 2');
    for (const name of ['session_list', 'session.list', 'change_title', 'no_such_tool']) {
      await host.request('tools/call', { name, arguments: { n: '5', wait_for_previous: true, nil: null } });
    }
    const input = { n: '5', wait_for_previous: true, nil: null };
    const names = ['session_list', 'session.list', 'change_title', 'no_such_tool'];
    expect(backend.calls.map(({ actionId }) => actionId)).toEqual(names);
    for (const call of backend.calls) {
      expect(call.input).toEqual(input);
      expect(call.context).toEqual({
        surface: 'mcp',
        sessionId: 'sess_default',
        machineId: 'mach_1',
        client: 'mcp:claude-code-2',
        maxWaitSeconds: 45,
      });
    }
  });

  test('without arguments, with null and with {} is the same', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await host.request('tools/call', { name: 'session_list' });
    host.write(
      '{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"session_list","arguments":null}}\n',
    );
    await host.message(({ id }) => id === 'n');
    await host.request('tools/call', { name: 'session_list', arguments: {} });
    expect(backend.calls.map(({ input }) => input)).toEqual([{}, {}, {}]);
  });

  test('of the stateless generation tells its client by itself', async () => {
    const backend = await setup.backend();
    const host = await setup.host();
    const params = { name: 'session_list', arguments: {}, _meta: modernMeta('Copilot CLI') };
    const { result } = await host.request('tools/call', params);
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { actionId: 'session_list' } });
    expect(backend.calls[0]?.context.client).toBe('mcp:copilot-cli');
  });
});

describe('a result', () => {
  test.each([
    ['ok', { status: 'ok' as const, output: { a: 1, nested: { b: ['c'] } } }],
    ['approval', { status: 'approval_required' as const, approval: NOTICE }],
    [
      'error',
      {
        status: 'error' as const,
        error: { code: 'session_busy' as const, message: 'It runs.', hint: 'Wait.', retryable: true },
      },
    ],
  ])('%s is structured, and the same whole as text', async (kind, envelope) => {
    const backend = await setup.backend();
    backend.answer = () => envelope;
    const host = await setup.host();
    await host.initialize();
    const { result } = await host.request('tools/call', { name: 'session_list' });
    const structured = {
      ok: envelope.status === 'ok' && envelope.output,
      approval: NOTICE,
      error: envelope.status === 'error' && { error: envelope.error },
    }[kind];
    expect(result.structuredContent).toEqual(structured);
    expect(result.content).toHaveLength(1);
    expect(JSON.parse(result.content[0].text)).toEqual(structured);
    expect(result.isError).toBe(kind === 'error' ? true : undefined);
  });

  test('shows as text what would be invisible', async () => {
    const backend = await setup.backend();
    const output = {
      name: 'a\u202Egnp.exe',
      zero: 'rm\u200B -rf',
      esc: '\u001b[2K',
      tag: 'x\u{e0041}',
      emoji: '🧑‍🚀',
    };
    backend.answer = () => ({ status: 'ok', output });
    const host = await setup.host();
    await host.initialize();
    const { result } = await host.request('tools/call', { name: 'session_list' });
    expect(result.structuredContent).toEqual(output);
    expect(JSON.parse(result.content[0].text)).toEqual(output);
    expect(result.content[0].text).toContain('a\\u202egnp.exe');
    expect(result.content[0].text).not.toMatch(/[\u200b\u202e\u001b]|\u{e0041}/u);
    expect(result.content[0].text).toContain('🧑‍🚀');
  });

  test('that needed the daemon says what is known of it', async () => {
    const backend = await setup.backend();
    const error = {
      code: 'daemon_not_running' as const,
      message: 'No daemon.',
      hint: 'Start it.',
      retryable: true,
    };
    backend.answer = () => ({ status: 'error', error });
    const host = await setup.host({ daemon: 'It died at 12:00.' });
    await host.initialize();
    const { result } = await host.request('tools/call', { name: 'session_spawn_new' });
    expect(result.structuredContent.error).toEqual({ ...error, hint: 'Start it. It died at 12:00.' });
  });
});

describe('progress', () => {
  test('comes with a token, always rising, and never after the result', async () => {
    const backend = await setup.backend();
    const late = held<void>();
    backend.answer = async () => {
      await late.promise;
      return { status: 'ok', output: {} };
    };
    const host = await setup.host({ timing: { progressMs: 40 } });
    await host.initialize();
    const answer = host.request('tools/call', { name: 'x', _meta: { progressToken: 'tok' } }, 'long');
    await host.message(({ params }) => params?.['progress'] === 3);
    late.resolve();
    await answer;
    await host.request('ping');
    const messages = host.messages();
    const notes = messages.filter(({ method }) => method === 'notifications/progress');
    expect(notes.map(({ params }) => params?.['progress'])).toEqual(notes.map((_, i) => i + 1));
    expect(notes.every(({ params }) => params?.['progressToken'] === 'tok')).toBe(true);
    const last = messages.findIndex(({ id }) => id === 'long');
    expect(messages.slice(last).some(({ method }) => method !== undefined)).toBe(false);
    expect(backend.calls[0]?.context.maxWaitSeconds).toBe(3600);
  });

  test('never comes without a token, and the wait is then one that every host bears', async () => {
    const backend = await setup.backend();
    const late = held<void>();
    backend.answer = async () => {
      await late.promise;
      return { status: 'ok', output: { status: 'pending' } };
    };
    const host = await setup.host({ timing: { progressMs: 10 } });
    await host.initialize();
    const answer = host.request('tools/call', { name: 'x' });
    await until('the call', () => backend.calls.length === 1);
    for (let i = 0; i < 20; i += 1) await host.request('ping');
    late.resolve();
    expect((await answer).result.structuredContent).toEqual({ status: 'pending' });
    expect(host.messages().filter(({ method }) => method !== undefined)).toEqual([]);
    expect(backend.calls[0]?.context.maxWaitSeconds).toBe(45);
  });

  test('comes in the stateless generation too', async () => {
    const backend = await setup.backend();
    const late = held<void>();
    backend.answer = async () => {
      await late.promise;
      return { status: 'ok', output: {} };
    };
    const host = await setup.host({ timing: { progressMs: 40 } });
    const answer = host.request('tools/call', { name: 'x', _meta: { ...modernMeta(), progressToken: 7 } });
    await host.message(({ params }) => params?.['progress'] === 2 && params['progressToken'] === 7);
    late.resolve();
    expect((await answer).result.structuredContent).toEqual({});
  });
});

describe('a canceled call', () => {
  test('is aborted at the backend and never answered; later ones are', async () => {
    const backend = await setup.backend();
    const aborted = held<string>();
    backend.answer = ({ actionId }, signal) => {
      if (actionId !== 'slow') return { status: 'ok', output: {} };
      return new Promise(() => signal.addEventListener('abort', () => aborted.resolve('aborted')));
    };
    const host = await setup.host();
    await host.initialize();
    host.send({ id: 'slow', method: 'tools/call', params: { name: 'slow' } });
    await until('the call', () => backend.calls.length === 1);
    host.send({
      method: 'notifications/cancelled',
      params: { requestId: 'slow', reason: 'Stop was pressed' },
    });
    expect(await aborted.promise).toBe('aborted');
    await host.request('tools/call', { name: 'fast' });
    expect(host.messages().some(({ id }) => id === 'slow')).toBe(false);
  });

  test('that is unknown, over or not named is ignored', async () => {
    await setup.backend();
    const host = await setup.host();
    await host.initialize();
    await host.request('tools/call', { name: 'x' }, 'done');
    for (const params of [{ requestId: 'done' }, { requestId: 4711 }, {}]) {
      host.send({ method: 'notifications/cancelled', params });
    }
    expect((await host.request('tools/call', { name: 'x' })).result.isError).toBeUndefined();
  });

  test('does not keep the process from ending', async () => {
    const backend = await setup.backend();
    backend.answer = () => new Promise(() => undefined);
    const host = await setup.host();
    await host.initialize();
    host.send({ id: 'slow', method: 'tools/call', params: { name: 'slow' } });
    await until('the call', () => backend.calls.length === 1);
    host.send({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
    host.child.stdin?.end();
    expect((await host.exit()).code).toBe(0);
    expect(host.messages().some(({ id }) => id === 'slow')).toBe(false);
  });
});
