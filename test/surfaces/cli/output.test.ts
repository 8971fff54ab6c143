import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPaint } from '../../../src/surfaces/cli/paint.ts';
import { renderOutput } from '../../../src/surfaces/cli/render.ts';
import { displayWidth, wrap } from '../../../src/surfaces/cli/table.ts';
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
      [
        'session id  title  status  last seq',
        'sess_0      One    idle    0',
        'sess_1      漢字   idle    1',
        '',
      ].join('\n'),
    );
    output = { sessions: [] };
    expect((await home.cli(['session', 'list'])).stdout).toBe('no sessions\n');
    output = { sessionId: 'sess_0', status: 'failed', reason: { code: 'x', message: 'y' } };
    expect((await home.cli(['session', 'status', 'get', 'sess_0'])).stdout).toBe(
      ['session id      sess_0', 'status          failed', 'reason.code     x', 'reason.message  y', ''].join(
        '\n',
      ),
    );
  });

  const hostile = ['a\u202Egnp.exe', 'rm\u200B -rf', '\u001b[2K\u001b[1A', 'a\rb', '\u009b31m', '\u{e0041}'];
  it.each(hostile)('makes %j visible in tables, fields and errors', async (text) => {
    const paint = createPaint(false);
    output = sessionsOf(text);
    const table = (await home.cli(['session', 'list'])).stdout;
    const fields = renderOutput({ title: text, nested: { deep: [text, { [text]: text }] } }, undefined, {
      paint,
    });
    for (const shown of [table, fields]) {
      expect(shown).not.toContain(text);
      expect(shown).toContain('\\u');
    }
    // Programs get the very bytes.
    expect((await home.cli(['session', 'list', '--json'])).json.output.sessions[0].title).toBe(text);
  });

  it('fits a terminal: drops columns from the right and says which, wraps what is long, keeps ids whole', () => {
    const schema = {
      properties: {
        rows: { type: 'array', items: { type: 'object', properties: { id: {}, title: {}, more: {} } } },
      },
    } as const;
    const rows = [{ id: 'sess_0123456789abcdef', title: 'x'.repeat(60), more: 'y'.repeat(30) }];
    const paint = createPaint(true);
    const shown = renderOutput({ rows }, schema, { width: 80, paint });
    const plain = shown.replaceAll(/\u001b\[\d+m/g, '');
    expect(plain.split('\n').every((line) => line.length <= 80)).toBe(true);
    expect(plain).toContain('sess_0123456789abcdef');
    expect(plain.replaceAll(/\s/g, '')).toContain('x'.repeat(60));
    expect(plain).toContain('not shown: more (use --json)');
    expect(shown).toContain('\u001b[1mid\u001b[22m');
  });

  it('knows how wide characters are', () => {
    expect(['abc', '漢字', 'é', '🧑‍🚀', '한', 'e\u0301'].map(displayWidth)).toEqual([3, 4, 1, 2, 2, 1]);
    expect(wrap('漢字漢字', 3)).toEqual(['漢', '字', '漢', '字']);
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
