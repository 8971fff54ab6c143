import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPaint } from '../../../src/surfaces/cli/paint.ts';
import { renderOutput } from '../../../src/surfaces/cli/render.ts';
import { cut, displayWidth, wrap } from '../../../src/surfaces/cli/table.ts';
import { answersWith, type FakeBackend, startFakeBackend } from '../../helpers/fake-backend.ts';
import { KAIWU } from '../../helpers/kaiwu.ts';
import { type Home, makeHome, signIn } from '../../helpers/signed-in.ts';

let home: Home;
let backend: FakeBackend;
let output: object = {};

beforeAll(async () => {
  home = await makeHome();
  backend = await startFakeBackend((...args) => answersWith({ status: 'ok', output })(...args));
  await signIn(home, 'fake', backend.url);
});
afterAll(async () => {
  await backend.close();
  await home.remove();
});

const sessionsOf = (...titles: string[]) => ({
  sessions: titles.map((title, i) => ({ sessionId: `sess_${i}`, title, status: 'idle', lastSeq: i })),
});

describe('output for people', () => {
  it('is a table for a list, and lines for one thing', async () => {
    output = sessionsOf('One', '漢字');
    expect((await home.cli(['session', 'list'])).stdout).toBe(
      ['id      title  status', 'sess_0  One    idle', 'sess_1  漢字   idle', ''].join('\n'),
    );
    output = { sessions: [] };
    expect((await home.cli(['session', 'list'])).stdout).toBe('no sessions\n');
    output = {
      sessionId: 'sess_0',
      status: 'failed',
      reason: { code: 'x', message: 'y' },
      options: [{ id: 1, ok: true }],
    };
    expect((await home.cli(['session', 'status', 'get', 'sess_0'])).stdout).toBe(
      [
        'session id      sess_0',
        'status          failed',
        'reason.code     x',
        'reason.message  y',
        'options',
        '    id  ok',
        '    1   yes',
        '',
      ].join('\n'),
    );
  });
  it('shows what the schema knows of inner objects by field, and the rest as JSON', () => {
    const open = { type: 'object', properties: {} } as const;
    const approval = {
      type: 'object',
      properties: { status: {}, at: {}, input: open, result: open },
    } as const;
    const list = { type: 'array', items: { type: 'object', properties: { name: {} } } } as const;
    const outputSchema = { properties: { executed: {}, approval, examples: list } };
    const result = { status: 'ok', output: { 'a.b': 'x'.repeat(50) } };
    const value = {
      examples: [{ name: 'One' }],
      approval: { result, input: { sessionId: 'sess_1' }, at: '2026-11-30T18:49:51Z', status: 'done' },
      executed: true,
      new: { deep: { er: 1 } },
    };
    const shown = renderOutput(
      value,
      { outputSchema },
      { paint: createPaint(false), timeZone: 'UTC', program: 'kaiwu' },
    );
    expect(shown.split('\n')).toEqual([
      'executed                   yes',
      'approval.status            done',
      'approval.at                2026-11-30 18:49:51',
      'approval.input.session id  sess_1',
      'approval.result',
      ...JSON.stringify(result, undefined, 2)
        .split('\n')
        .map((line) => `    ${line}`),
      'examples',
      '    name',
      '    One',
      'new.deep.er                1',
    ]);
  });

  it('shows the table of the action that another one calls, and how to get the next page', async () => {
    output = { ...sessionsOf('One'), nextCursor: 'abc' };
    const { stdout } = await home.cli(['action', 'exec', 'session_list', '--input', '{}']);
    expect(stdout).toBe('id      title  status\nsess_0  One    idle\nnext page: --cursor abc\n');
  });

  it('shows times in the zone of the person, and programs get them as they are', async () => {
    const at = '2026-11-30T23:49:51.123Z';
    output = { sessionId: 'sess_0', title: at, updatedAt: at };
    const timesIn = async (TZ: string) => {
      const { stdout } = await home.cli(['session', 'status', 'get', 'sess_0'], { env: { TZ } });
      return [/title +(.*)/.exec(stdout)?.[1], /updated at +(.*)/.exec(stdout)?.[1]];
    };
    expect(await timesIn('Asia/Tokyo')).toEqual([at, '2026-12-01 08:49:51']);
    expect(await timesIn('America/St_Johns')).toEqual([at, '2026-11-30 20:19:51']);
    expect(await timesIn('Nowhere/At_All')).toEqual([at, '2026-11-30 23:49:51']);
    const { json } = await home.cli(['session', 'status', 'get', 'sess_0', '--json']);
    expect(json.output.updatedAt).toBe(at);
  });

  const hostile = ['a\u202Egnp.exe', 'rm\u200B -rf', '\u001b[2K\u001b[1A', 'a\rb', '\u009b31m', '\u{e0041}'];
  it.each(hostile)('makes %j visible in tables, fields and errors', async (text) => {
    const paint = createPaint(false);
    output = sessionsOf(text);
    const table = (await home.cli(['session', 'list'])).stdout;
    const nested = { title: text, nested: { deep: [text, { [text]: text }] }, rows: [{ [text]: text }] };
    const fields = renderOutput(nested, {}, { paint, timeZone: 'UTC', program: 'kaiwu' });
    for (const shown of [table, fields]) {
      expect(shown).not.toContain(text);
      expect(shown).toContain('\\u');
    }
    // Programs get the very bytes.
    expect((await home.cli(['session', 'list', '--json'])).json.output.sessions[0].title).toBe(text);
  });

  const plainRows = (rows: object[], width: number) =>
    renderOutput({ rows }, SCHEMA, {
      width,
      paint: createPaint(false),
      timeZone: 'UTC',
      program: 'kaiwu',
    }).split('\n');
  const SCHEMA = {
    outputSchema: {
      properties: {
        rows: { type: 'array', items: { type: 'object', properties: { id: {}, title: {}, at: {} } } },
      },
    },
  } as const;
  const ROW = {
    id: 'sess_0123456789abcdef',
    title: `begin ${'x'.repeat(60)} end`,
    at: '2026-11-30T18:49:51Z',
  };

  it('fits a terminal: cuts long text to the room left, keeps ids and times whole', () => {
    expect(plainRows([ROW], 80)).toEqual([
      'id                     title                                 at',
      'sess_0123456789abcdef  begin xxxxxxxxxxxxxxxxxx…xxxxxxx end  2026-11-30 18:49:51',
      'more with --json',
    ]);
    expect(plainRows([ROW], 160)).toHaveLength(2);
  });

  it('drops columns from the right where there is no room for them, and says which', () => {
    expect(plainRows([ROW], 50).at(-1)).toBe('not shown: at; more with --json');
    expect(plainRows([{ ...ROW, title: '漢'.repeat(40) }], 50)[1]).toBe(
      `sess_0123456789abcdef  ${'漢'.repeat(9)}…${'漢'.repeat(4)}`,
    );
    for (const width of [1, 5, 20, 40, 60]) {
      const lines = plainRows([ROW], width).slice(0, 2);
      expect(lines.every((line) => displayWidth(line) <= width)).toBe(true);
    }
  });

  it('marks its head where colour may be', () => {
    const paint = createPaint(true);
    const shown = renderOutput({ rows: [ROW] }, SCHEMA, {
      width: 80,
      paint,
      timeZone: 'UTC',
      program: 'kaiwu',
    });
    expect(shown).toContain('\u001b[1mid\u001b[22m');
  });

  it('knows how wide characters are', () => {
    expect(['abc', '漢字', 'é', '🧑‍🚀', '한', 'e\u0301'].map(displayWidth)).toEqual([3, 4, 1, 2, 2, 1]);
    expect(wrap('漢字漢字', 3)).toEqual(['漢', '字', '漢', '字']);
    expect(wrap('  one two three', 9)).toEqual(['  one two', 'three']);
    expect(['short', 'a long word', '🧑‍🚀🧑‍🚀🧑‍🚀'].map((text) => cut(text, 5))).toEqual([
      'short',
      'a lo…',
      '🧑‍🚀🧑‍🚀…',
    ]);
    expect(cut('x'.repeat(1_000_000), 20)).toBe(`${'x'.repeat(13)}…${'x'.repeat(6)}`);
  });

  it('has no colour in a pipe, and none with NO_COLOR', async () => {
    output = sessionsOf('One');
    expect((await home.cli(['session', 'list'], { env: { FORCE_COLOR: '1' } })).stdout).not.toContain(
      '\u001b',
    );
  });
});

describe('a pipe', () => {
  it('gets all of a large output, however slowly it is read', async () => {
    output = {
      sessions: Array.from({ length: 20_000 }, (_, i) => ({
        sessionId: `sess_${i}`,
        title: 'x'.repeat(300),
      })),
    };
    const child = spawn(process.execPath, [KAIWU, 'session', 'list', '--json'], {
      env: home.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const parts: Buffer[] = [];
    for await (const part of child.stdout) {
      parts.push(part as Buffer);
      // A reader with other things to do.
      await sleep(2);
    }
    const text = Buffer.concat(parts).toString();
    expect(text.length).toBeGreaterThan(6_000_000);
    expect(text.endsWith('\n')).toBe(true);
    expect(JSON.parse(text).output.sessions.at(-1).sessionId).toBe('sess_19999');
  });

  it('that is closed early ends the command quietly', async () => {
    output = {
      sessions: Array.from({ length: 20_000 }, (_, i) => ({
        sessionId: `sess_${i}`,
        title: 'x'.repeat(300),
      })),
    };
    const child = spawn(process.execPath, [KAIWU, 'session', 'list'], {
      env: home.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (part) => (stderr += part));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    expect([code, stderr]).toEqual([0, '']);
  });

  it('Ctrl-C cancels the call: the request is closed and the code is 130', async () => {
    const closed = new EventEmitter();
    const wasClosed = once(closed, 'close');
    const silent = await startFakeBackend((request, response) => {
      if (!request.url.startsWith('/v1/actions/'))
        return answersWith({})(request, response, undefined as never);
      response.on('close', () => closed.emit('close'));
      return child.kill('SIGINT');
    });
    const other = await makeHome();
    await signIn(other, 'silent', silent.url);
    const child = spawn(process.execPath, [KAIWU, 'session', 'list', '--json'], {
      env: other.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (part) => (stdout += part));
    const [code] = await once(child, 'close');
    await wasClosed;
    expect(code).toBe(130);
    expect(JSON.parse(stdout).error.code).toBe('canceled');
    await silent.close();
    await other.remove();
  });
});
