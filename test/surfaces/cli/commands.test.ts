import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../src/core/errors.ts';
import type { ActionManifest } from '../../../src/core/spec.ts';
import { answersWith, type FakeBackend, startFakeBackend } from '../../helpers/fake-backend.ts';
import { toCommands } from '../../../src/surfaces/cli/command.ts';
import { overviewHelp } from '../../../src/surfaces/cli/group-help.ts';
import { commandHelp } from '../../../src/surfaces/cli/help.ts';
import { createPaint } from '../../../src/surfaces/cli/paint.ts';
import { displayWidth } from '../../../src/surfaces/cli/table.ts';
import { KAIWU } from '../../helpers/kaiwu.ts';
import { type Home, makeHome, signIn } from '../../helpers/signed-in.ts';

let home: Home;
let backend: FakeBackend;
let envelope: unknown = { status: 'ok', output: {} };

beforeAll(async () => {
  home = await makeHome();
  backend = await startFakeBackend((...args) => answersWith(envelope)(...args));
  await signIn(home, 'fake', backend.url);
});
afterAll(async () => {
  await backend.close();
  await home.remove();
});

const calls = () => backend.requests.filter(({ url }) => url.startsWith('/v1/actions/'));
const lastCall = () => calls().at(-1)!;
const ok = (output: object) => {
  envelope = { status: 'ok', output };
};

describe('commands of the catalog', () => {
  it('takes fields by position and by flag, each in its type', async () => {
    ok({});
    const line = ['session', 'message', 'send', 'sess_1', 'say hi', '--wait', '--timeout-seconds', '5'];
    expect((await home.cli([...line, '--json'])).code).toBe(0);
    expect(lastCall().url).toBe('/v1/actions/session.message.send');
    expect(lastCall().body).toEqual({
      input: { sessionId: 'sess_1', message: 'say hi', wait: true, timeoutSeconds: 5 },
      context: { surface: 'cli', client: 'cli', machineId: expect.stringMatching(/^mach_/) },
    });
    expect(lastCall().headers.authorization).toBe('Bearer kw_test_fake_0123456789');
  });

  it('leaves the session out where --session names it, and lets flags stand before the command', async () => {
    ok({});
    await home.cli(['--session', 'sess_9', 'session', 'title', 'set', 'New title', '--json']);
    expect(lastCall().body.input).toEqual({ title: 'New title' });
    expect(lastCall().body.context.sessionId).toBe('sess_9');
  });

  it('merges --input, reads it from stdin, and lets null clear', async () => {
    ok({});
    const args = [
      'session',
      'message',
      'send',
      '--input',
      '-',
      '--no-wait',
      '--model-override',
      'null',
      '--json',
    ];
    await home.cli(args, { input: '{"sessionId":"sess_1","message":"a — 漢 🧑‍🚀","wait":true}' });
    expect(lastCall().body.input).toEqual({
      sessionId: 'sess_1',
      message: 'a — 漢 🧑‍🚀',
      wait: false,
      modelOverride: null,
    });
  });

  it('resolves a relative folder from where the person stands', async () => {
    ok({});
    await home.cli(['session', 'spawn-new', 'demo', '.', '--json']);
    expect(lastCall().body.input.directory).toBe(home.home);
    await home.cli(['session', 'spawn-new', 'demo', '/elsewhere', '--json']);
    expect(lastCall().body.input.directory).toBe('/elsewhere');
    const lists = ['--additional-directories', 'one', '--additional-directories', '~/two'];
    await home.cli(['session', 'spawn-new', 'demo', '  ', ...lists, '--json']);
    expect(lastCall().body.input).toMatchObject({
      directory: '  ',
      additionalDirectories: [`${home.home}/one`, '~/two'],
    });
  });

  it('executes any action by id with an idempotency key', async () => {
    ok({ done: true });
    const input = '{"sessionId":"sess_1","title":"T"}';
    const args = [
      'action',
      'exec',
      'session.title.set',
      '--input',
      input,
      '--json',
      '--idempotency-key',
      'k-1',
    ];
    const { json, code } = await home.cli(args);
    expect([json, code]).toEqual([{ status: 'ok', output: { done: true } }, 0]);
    expect(lastCall().body.input).toEqual({ actionId: 'session.title.set', input: JSON.parse(input) });
    expect(lastCall().headers['idempotency-key']).toBe('k-1');
  });

  it('exits with the code of the error table, for every code, and prints one envelope', async () => {
    const wrong: unknown[] = [];
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      envelope = { status: 'error', error: { code, message: 'No.', retryable: ERRORS[code].retryable } };
      const result = await home.cli(['session', 'list', '--json']);
      if (result.code !== ERRORS[code].exit || result.json?.error?.code !== code) wrong.push([code, result]);
    }
    expect(wrong).toEqual([]);
  });

  it('exits with 3 for an approval and says how to decide it', async () => {
    const approval = {
      kind: 'approval_request_created',
      artifactId: '2765bc88-69ea-4316-9085-290ce5b3a3b6',
      actionId: 'session.stop',
      summary: 'Stop it',
      status: 'pending',
      expiresAt: '2030-01-01T00:00:00Z',
      decideWith: 'kaiwu approval request decide 2765bc88 approve',
      waitWith: 'kaiwu approval request get',
    };
    envelope = { status: 'approval_required', approval };
    const asJson = await home.cli(['session', 'stop', 'sess_1', '--json']);
    expect([asJson.code, asJson.json]).toEqual([3, { status: 'approval_required', approval }]);
    const asText = await home.cli(['session', 'stop', 'sess_1']);
    expect(asText.code).toBe(3);
    expect(asText.stdout).toMatch(/^A person must approve this first: Stop it\nid +2765bc88-69ea-/);
    expect(asText.stdout).toContain(`decide with  ${approval.decideWith}\n`);
  });

  it('tells people about errors on stderr, with the next step', async () => {
    envelope = {
      status: 'error',
      error: { code: 'session_not_found', message: 'No session x.', hint: 'List them.', retryable: false },
    };
    const { stdout, stderr, code } = await home.cli(['session', 'status', 'get', 'x']);
    expect([stdout, stderr, code]).toEqual(['', 'error session_not_found: No session x.\nList them.\n', 5]);
  });
});

describe('an input that the backend refuses', () => {
  it('leads a person to the help of the command, and a program to the schema', async () => {
    const error = { code: 'invalid_input', message: 'limit: too big.', hint: 'Ask.', retryable: false };
    envelope = { status: 'error', error };
    const line = ['session', 'list', '--limit', '900'];
    expect((await home.cli(line)).stderr).toBe(
      'error invalid_input: limit: too big.\nAsk. In a shell: `kaiwu session list --help`.\n',
    );
    expect((await home.cli([...line, '--json'])).json).toEqual(envelope);
  });
});

describe('bad lines are refused before anything is sent', () => {
  const cases: [line: string[], code: number, said: RegExp][] = [
    [['sesion', 'list'], 5, /There is no command "sesion list"\.\nNearest: `kaiwu session list`/],
    [['session', 'lst'], 5, /kaiwu session list/],
    [['session', 'list', '--limt', '5'], 2, /no flag --limt here\.\nDid you mean --limit\?/],
    [['session', 'list', '--limit', 'five'], 2, /limit must be a number: received "five"/],
    [['session', 'list', '--limit', '0x10'], 2, /limit must be a number/],
    [['session', 'list', '--limit'], 2, /--limit needs a value/],
    [['session', 'list', '--status', '--json'], 2, /--status needs a value/],
    [['session', 'list', '--status', 'asleep'], 2, /status must be one of starting, idle/],
    [['session', 'message', 'send', 'sess_1', 'x', '--wait=maybe'], 2, /--wait is a switch/],
    [['session', 'message', 'send', 'sess_1'], 2, /needs <message>/],
    [
      ['session', 'title', 'set', 'sess_1', 'two', 'words'],
      2,
      /takes 2 arguments; there is more: "words"\.\nPut quotes/,
    ],
    [['session', 'permission', 'respond', 's', 'r', 'yes'], 2, /by flags: --request-id, --option-id\./],
    [['run', 'list', 'sess_1'], 2, /takes no arguments; .*\nMore is passed by flags: --session-id/],
    [['action', 'exec', 'session.list', '--input', '{bad'], 2, /--input is not JSON: received "\{bad"/],
    [['session', 'list', '--input', '[1]'], 2, /--input must be a JSON object/],
    [['session', 'list', '--server', 'nowhere'], 5, /There is no profile "nowhere"\.\nProfiles: fake\./],
    [['session', 'list', '--server', 'fake', '--server-url', 'https://x.example'], 2, /one of them chooses/],
  ];
  it.each(cases)('%j', async (line, code, said) => {
    const before = calls().length;
    const result = await home.cli(line);
    const told = line.includes('--json') ? JSON.stringify(result.json) : result.stderr;
    expect(told).toMatch(said);
    expect(result.code).toBe(code);
    expect(calls().length).toBe(before);
  });
});

describe('help', () => {
  const manifests = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../dist/catalog.json'), 'utf8'),
  ) as ActionManifest[];

  it('needs neither a home nor a backend, and shows examples that the parser takes', async () => {
    const env = { PATH: process.env.PATH, HOME: '/', KAIWU_HOME: undefined };
    const { stdout, code, stderr } = await home.cli(['session', 'title', 'set', '--help'], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('kaiwu session title set');
    expect(stdout).toMatch(/kaiwu session title set sess_\w+ '.*'/);
  });

  it('lists every direct action by its title, with its further names on the same line', async () => {
    const { stdout } = await home.cli(['--help']);
    const direct = manifests.filter(({ surfaces }) => surfaces.cli?.exposure === 'direct');
    expect(direct.length).toBeGreaterThan(20);
    for (const { id, title, commands = [] } of direct) {
      const names = [id.replaceAll('.', ' ').replaceAll('_', '-'), ...commands].join(', ');
      expect(stdout.split('\n').filter((line) => line.startsWith(`  ${names}  `))).toEqual([
        expect.stringMatching(new RegExp(`  ${title.en}$`)),
      ]);
    }
    const headings = stdout.split('\n').filter((line) => /^[A-Z][^.:]*$/.test(line));
    expect(headings.slice(0, 3)).toEqual(['Usage', 'This machine', 'Session']);
    expect(headings.slice(-2)).toEqual(['Others', 'Everywhere']);
    const families = direct.map(({ id }) => id.slice(0, id.indexOf('.')));
    const large = new Set(families.filter((family, index) => families.indexOf(family) < index));
    expect(new Set(headings.slice(2, -2).map((heading) => heading.toLowerCase()))).toEqual(large);
    expect(stdout).toMatch(/^ {2}daemon +start, stop, restart, status, /m);
  });

  it('of a group lists the commands of the group', async () => {
    const { stdout } = await home.cli(['session', '--help']);
    expect(stdout).toMatch(/^Usage\n {2}kaiwu session <command> \[flags\]\n\nCommands\n/);
    expect(stdout).toMatch(/^ {2}session spawn-new +Start a new session$/m);
    expect(stdout).not.toContain('  action ');
    expect((await home.cli(['auth', '--help'])).stdout).toMatch(/^ {2}auth approve +Let a device sign in$/m);
  });

  it('names the command that was typed, in help and hints', async () => {
    const hdev = { command: [process.execPath, KAIWU.replace(/kaiwu$/, 'hdev')] };
    const help = await Promise.all(
      [['--help'], ['session', '--help'], ['session', 'list', '--help']].map((line) => home.cli(line, hdev)),
    );
    const wrong = await Promise.all(
      [
        ['sesion', 'list'],
        ['session', 'message', 'send', 'x'],
        ['server', 'test', 'no'],
      ].map((line) => home.cli(line, { ...hdev, env: { KAIWU_HOME: home.path('nothing-yet') } })),
    );
    for (const { stdout, stderr } of [...help, ...wrong]) {
      expect(stdout + stderr).toContain('hdev ');
      expect(stdout + stderr).not.toMatch(/\bkaiwu [a-z-]/);
    }
  });

  it('fits the terminal that it is shown in', () => {
    const commands = toCommands(manifests, () => Promise.reject(new Error('not called')));
    const paint = createPaint(false);
    for (const width of [60, 80, 120]) {
      const style = { program: 'kaiwu', width, paint };
      const texts = [
        overviewHelp(commands, style),
        ...commands.map((one) => commandHelp(one, commands, style)),
      ];
      const isCommandLine = (line: string) => /^ {2}(kaiwu|#) |`kaiwu/.test(line);
      const long = texts.flatMap((text) =>
        text.split('\n').filter((line) => displayWidth(line) > width && !isCommandLine(line)),
      );
      expect(long.filter((line) => line.trim().includes(' '))).toEqual([]);
    }
  });

  it('no field of an action is hidden by a global flag', () => {
    const taken = ['server', 'serverUrl', 'webappUrl', 'session', 'json', 'help'];
    const clashes = manifests.flatMap(({ id, inputSchema, positionals = [] }) =>
      Object.keys(inputSchema.properties ?? {})
        .filter((field) => taken.includes(field) && !positionals.includes(field))
        .map((field) => `${id}: ${field}`),
    );
    expect(clashes).toEqual([]);
  });
});
