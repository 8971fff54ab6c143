import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApi, type Api } from '../e2e/helpers/api.ts';
import { runInTerminal } from '../helpers/terminal.ts';
import { startWorld, type World } from '../helpers/world.ts';

let world: World;
let api: Api;

beforeAll(async () => {
  world = await startWorld();
  api = createApi(world);
}, 90_000);
afterAll(() => world?.stop(), 60_000);

beforeEach(async () => {
  const { version } = await api.output('policy.get');
  await api.output('policy.import', {
    document: { version, rules: {}, settings: {} },
    confirmUnattended: true,
  });
});

const file = (name: string, text: string) => {
  writeFileSync(join(world.home, name), text);
  return name;
};
const policy = (...args: string[]) => world.cli(['policy', ...args]);
const version = async (): Promise<number> => (await api.output('policy.get')).version;
const exported = async () => (await policy('export')).stdout;

/** Calls that asked: what a policy that stops asking would have let run. */
async function ask(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const envelope = await api.call('device.revoke', { deviceId: `dev_nobody${i}` }, 'mcp');
    expect(envelope.status).toBe('approval_required');
  }
}
const letRun = 'device.revoke:\n    mcp:\n      approval: false\n';
const withRule = async (rule: string) => (await exported()).replace('rules: {}', `rules:\n  ${rule}`);

describe('policy export', () => {
  it('is the same text for the same policy, whatever the order of its making, and says how to import it', async () => {
    await policy('set', 'session.stop.mcp', 'ask');
    await policy('set', 'session.archive.mcp', 'ask');
    await policy('set', 'session.*.agent', 'deny');
    const first = await exported();
    expect(first.replace(/version: \d+/, 'version: N')).toBe(`${readHead(first)}version: N
rules:
  session.*:
    agent:
      enabled: false
  session.archive:
    mcp:
      approval: true
  session.stop:
    mcp:
      approval: true
`);
    expect(readHead(first)).toContain('kaiwu policy import FILE');
    await policy('unset', 'session.stop');
    await policy('set', 'session.stop.mcp', 'ask');
    expect((await exported()).replace(/version: \d+/, '')).toBe(first.replace(/version: \d+/, ''));
    const json = JSON.parse((await policy('export', '--format', 'json')).stdout);
    expect(json).toEqual((await policy('get', '--json')).json.output);
    expect((await policy('export', '--json')).json.output).toEqual(json);
  });

  it('goes through an edit, a diff and an import, and back', async () => {
    await policy('set', 'session.archive.mcp', 'ask');
    await policy('set', 'session.archive.cli', 'deny');
    const before = await version();
    await world.cli(['session', 'list']);
    const edited = (await exported())
      .replace('approval: true', 'approval: true\n      exposure: discoverable')
      .replace('cli:\n      enabled: false', 'cli:\n      enabled: true')
      .concat('  session.list:\n    cli:\n      enabled: false\n', 'settings:\n  approvalHours: 48\n');
    const name = file('edited.yaml', edited);

    const diff = await policy('diff', name);
    expect(diff.code).toBe(0);
    expect(diff.stdout).toContain(`(version ${before}): 4 changes.

session.archive
  ~ cli    enabled   false -> true
  + mcp    exposure  discoverable
session.list
  + cli    enabled   false
settings
  + approvalHours  48
`);
    expect(diff.stdout).toMatch(/newly refused 1, newly asking 0, newly run unattended 0\./);
    expect(diff.stdout).toMatch(/refused +\S+Z {2}session\.list on cli by cli/);
    expect((await policy('diff', name, '--check')).code).toBe(6);
    expect(await version()).toBe(before);

    const imported = await policy('import', name, '--yes');
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    expect(imported.stdout).toContain('~ cli    enabled   false -> true');
    expect(imported.stdout.trimEnd().endsWith(`In force: version ${before + 1} of the policy.`)).toBe(true);
    expect((await world.cli(['session', 'list'])).code).toBe(9);
    expect(await exported()).toBe(edited.replace(`version: ${before}`, `version: ${before + 1}`));

    // What is in force already is no conflict, however old the file.
    const again = await policy('import', name, '--json');
    expect(again.json.output).toMatchObject({ changed: false, changes: [] });
    expect((await policy('diff', name, '--check')).code).toBe(0);
    expect(await version()).toBe(before + 1);
  });
});

describe('policy diff', () => {
  it('takes JSON and stdin, and tells programs the same', async () => {
    const text = JSON.stringify({
      version: await version(),
      rules: { 'session.*': { voice: { enabled: false } } },
    });
    const { json, code } = await world.cli(['policy', 'diff', '-', '--json'], { input: text });
    expect(code).toBe(0);
    expect(json.output).toMatchObject({
      file: 'stdin',
      fileVersion: await version(),
      policyVersion: await version(),
      changes: [{ rule: 'session.*', surface: 'voice', field: 'enabled', after: false }],
      notes: [],
      preview: { newlyRefused: { count: 0 }, complete: true },
    });
  });

  it('says so when a rule speaks of no action', async () => {
    const name = file('note.yaml', await withRule('session.archve:\n    mcp: { approval: true }\n'));
    expect((await policy('diff', name)).stdout).toContain(
      'No action or family is called "session.archve", so this rule changes nothing. The nearest is session.archive.',
    );
  });

  it('makes visible what could fool a reader', async () => {
    const name = file(
      'bidi.yaml',
      await withRule('"session.\\u202elist\\e[2J":\n    mcp: { approval: true }\n'),
    );
    const { stdout } = await policy('diff', name);
    expect(stdout).toContain('session.\\u202elist\\u001b[2J');
    expect(stdout).not.toMatch(/[\u202e\u001b]/);
  });
});

describe('policy import', () => {
  it('is refused when the policy has changed since', async () => {
    const text = await withRule('session.archive:\n    mcp: { approval: true }\n');
    const before = await version();
    const name = file('old.yaml', text);
    await policy('set', 'session.stop.mcp', 'ask');
    expect((await policy('diff', name)).stdout).toContain(
      `It was made from version ${before}, so an import would be refused`,
    );
    const { code, json } = await policy('import', name, '--yes', '--json');
    expect(code).toBe(6);
    expect(json.error).toMatchObject({
      code: 'conflict',
      message: `old.yaml was made from version ${before}; the policy is at version ${before + 1} now. Nothing was changed.`,
      details: { version: before + 1, received: before },
    });
    expect((await api.output('policy.get')).rules).toEqual({ 'session.stop': { mcp: { approval: true } } });
  });

  it('shows everything and changes nothing without a terminal and without --yes', async () => {
    const name = file('asks.yaml', await withRule('session.archive:\n    mcp: { approval: true }\n'));
    const before = await version();
    const refused = await policy('import', name);
    expect(refused.code).toBe(6);
    expect(refused.stdout).toContain('+ mcp    approval  true');
    expect(refused.stderr).toMatch(/^error confirmation_required: .*\n.*with --yes\.\n$/);
    expect(await version()).toBe(before);
  });

  it('takes a second yes for what would newly run unattended', async () => {
    await ask(2);
    const name = file('unattended.yaml', await withRule(letRun));
    const before = await version();
    const refused = await policy('import', name, '--yes');
    expect(refused.code).toBe(6);
    expect(refused.stdout).toMatch(
      /newly run unattended 2\.\n {2}unattended {2}\S+Z {2}device\.revoke on mcp by mcp:http/,
    );
    expect(refused.stderr).toContain('import it again with --confirm-unattended.');
    const { json } = await policy('import', name, '--json');
    expect(json.error.hint).toContain('with --yes --confirm-unattended.');
    expect(json.error.details.preview.newlyUnattended.count).toBe(2);
    expect(await version()).toBe(before);
    expect((await policy('import', name, '--yes', '--confirm-unattended')).code).toBe(0);
    expect(await version()).toBe(before + 1);
  });

  it('asks on a terminal: yes or no, and the very number of what would run unattended', async () => {
    const { env, home: cwd } = world;
    const on = (name: string, ...answers: [RegExp, string][]) =>
      runInTerminal(['policy', 'import', name], { env, cwd, answers });
    const before = await version();
    const plain = file('plain.yaml', await withRule('session.archive:\n    voice: { enabled: false }\n'));
    const question = /Put this policy in force\? \[y\/N\] $/;
    expect((await on(plain, [question, '\n'])).code).toBe(130);
    expect((await on(plain, [question, '\x04'])).code).toBe(130);
    const canceled = await on(plain, [question, '\x03']);
    expect([canceled.code, canceled.output]).toEqual([130, expect.stringContaining('Nothing was changed.')]);
    expect(await version()).toBe(before);
    const agreed = await on(plain, [question, 'y\n']);
    expect([agreed.code, agreed.output]).toEqual([
      0,
      expect.stringContaining(`In force: version ${before + 1}`),
    ]);

    const { newlyUnattended } = await api.output('policy.preview', {
      rules: { 'device.revoke': { mcp: { approval: false } } },
    });
    const name = file('number.yaml', `version: ${before + 1}\nrules:\n  ${letRun}`);
    const number = /Type \d+ to put the policy in force all the same: $/;
    expect((await on(name, [number, 'y\n'])).code).toBe(130);
    expect(await version()).toBe(before + 1);
    expect((await on(name, [number, `${newlyUnattended.count}\n`])).code).toBe(0);
    expect(await version()).toBe(before + 2);
  });

  it.each([
    [
      'unknown names',
      'version: 0\nrulez: {}\nrules:\n  a.b:\n    mpc: { approval: true }\n    mcp:\n      aproval: true\n',
      [
        ':2:1: "rulez" is not known here; known: version, rules, settings. Did you mean rules?',
        ':5:5: "mpc" is not known here; known: app, cli, mcp, agent, voice. Did you mean mcp?',
        ':7:7: "aproval" is not known here; known: enabled, approval, exposure. Did you mean approval?',
      ],
    ],
    [
      'wrong values',
      'version: -1\nrules:\n  a.b:\n    mcp:\n      enabled: yes\n      exposure: hidden\n  c.d:\nsettings: { approvalHours: 10000 }\n',
      [
        ':1:10: version must be a whole number from 0, not -1',
        ':5:16: enabled must be true or false, not "yes"',
        ':6:17: exposure must be direct or discoverable, not "hidden"',
        ':7:7: c.d is empty',
        ':8:28: approvalHours must be a number from 0.01 to 720, not 10000',
      ],
    ],
    ['YAML that is none', 'version: 1\nrules:\n  a.b: {mcp: [\n', [':4:1: ']],
    ['JSON that is none', '{\n  "version": 1,\n  "rules": {"a.b" {}}\n}\n', [':3:']],
    ['doubled keys', 'version: 1\nrules:\n  a.b: {}\n  a.b: {}\n', [':4:3: Map keys must be unique']],
    ['what is missing', '{}', [':1:1: version is missing', ':1:1: rules is missing']],
    ['an empty file', '', [':1:1: the file says nothing']],
    ['a list', '- version\n', [':1:1: the file must be a map']],
  ])('names file, line and column of %s, and changes nothing', async (_, text, problems) => {
    const name = file('bad.yaml', text);
    const before = await version();
    const { code, stdout, stderr } = await policy('import', name, '--yes');
    expect([code, stdout]).toEqual([2, '']);
    for (const problem of problems) expect(stderr).toContain(`bad.yaml${problem}`);
    expect(stderr).toContain('Nothing was changed.');
    expect(await version()).toBe(before);
  });

  it.each([
    ['nowhere.yaml', 'file_not_found', 5],
    ['.', 'is_directory', 2],
    ['binary.yaml', 'invalid_input', 2],
  ])('%s is %s', async (name, code, exit) => {
    writeFileSync(join(world.home, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
    const refused = await policy('import', name, '--yes', '--json');
    expect([refused.json.error.code, refused.code]).toEqual([code, exit]);
  });

  it('without a file is the action, which refuses what it does not know as well', async () => {
    const before = await version();
    const document = { version: before, rules: { 'session.archive': { mcp: { aproval: true } } } };
    const refused = await policy('import', '--document', JSON.stringify(document), '--json');
    expect(refused.json.error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('aproval'),
    });
    const fine = { version: before, rules: { 'session.archive': { mcp: { approval: true } } } };
    expect((await policy('import', '--document', JSON.stringify(fine), '--json')).json.output.version).toBe(
      before + 1,
    );
    expect((await policy('import')).code).toBe(2);
  });
});

const readHead = (text: string): string => text.slice(0, text.indexOf('version:'));
