import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMcpServersFile, type McpServersFile } from '../../src/local/mcp-servers-file.ts';

interface Line {
  level: string;
  text: string;
}

function open(options: { given?: string; text?: string } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'kaiwu-servers-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'profile');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'mcp-servers.json');
  if (options.text !== undefined) writeFileSync(path, options.text);
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, text: `${message} ${JSON.stringify(fields)}` });
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const make = (given = options.given) => createMcpServersFile({ folder, given, log });
  return { root, folder, path, lines, make };
}

/** Reads it once, and ends with the test. */
async function started(
  file: McpServersFile,
  onChange: () => void = () => undefined,
): Promise<McpServersFile> {
  onTestFinished(() => file.close());
  await file.start(onChange);
  return file;
}

const names = (file: McpServersFile) => file.servers().map(({ config }) => config.name);
const CANARY = 'canary-s3cr3t-value';

test('no file is no server and no complaint', async () => {
  const file = await started(open().make());
  expect([file.servers(), file.problem(), file.warnings()]).toEqual([[], undefined, []]);
});

test('the file beside the configuration is read: map, list, comments; what is wrong is left out and named', async () => {
  const { make } = open({
    text: `\ufeff// mine
      [
        { "name": "home", "command": "home-mcp", "env": { "KEY": "${CANARY}" } },
        "{\\"name\\": \\"text\\", \\"url\\": \\"http://127.0.0.1:1\\"}",
        { "name": "neither" },
        { "name": "both", "url": "http://127.0.0.1:1", "command": "x" },
      ]`.replace('},\n      ]', '}\n      ]'),
  });
  const file = await started(make());
  expect(file.problem()).toBeUndefined();
  expect(names(file)).toEqual(['home', 'text']);
  expect(file.servers().map(({ key }) => key)).toEqual(['file:home', 'file:text']);
  expect(file.warnings()).toHaveLength(2);
  expect(file.warnings().join('\n')).toMatch(/neither/);
  expect(file.warnings().join('\n')).toMatch(/both|4/);
});

test('a damaged file is told with its place, is left alone, and the last good servers go on', async () => {
  const { path, make, lines } = open({ text: '{"mcpServers": {"home": {"command": "home-mcp"}}}' });
  let told: () => void = () => undefined;
  const next = () =>
    new Promise<void>((resolve) => {
      told = resolve;
    });
  const file = await started(make(), () => told());
  expect(names(file)).toEqual(['home']);

  const broken = next();
  const text = `{"mcpServers": {\n  "home": {"command": "home-mcp", "env": {"K": "${CANARY}" oops}}}`;
  writeFileSync(path, text);
  await broken;
  expect(file.problem()).toContain(path);
  expect(file.problem()).toMatch(/line 2, column \d+/);
  expect(names(file)).toEqual(['home']);
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);

  const mended = next();
  writeFileSync(path, '[{"name": "other", "command": "x"}]');
  await mended;
  expect([names(file), file.problem()]).toEqual([['other'], undefined]);

  const gone = next();
  unlinkSync(path);
  await gone;
  expect([names(file), file.problem()]).toEqual([[], undefined]);
  expect(JSON.stringify(lines)).not.toContain(CANARY.slice(0, 8));
}, 30_000);

test('relative paths are of the configuration’s folder and do not leave it, by word or by link', async () => {
  const { root, folder, make } = open();
  writeFileSync(join(root, 'outside.json'), '[{"name": "out", "command": "x"}]');
  writeFileSync(join(folder, 'inside.json'), '[{"name": "in", "command": "x"}]');
  symlinkSync(join(root, 'outside.json'), join(folder, 'link.json'));
  symlinkSync(root, join(folder, 'up'));
  expect(names(await started(make('inside.json')))).toEqual(['in']);
  expect(names(await started(make(join(root, 'outside.json'))))).toEqual(['out']);
  for (const given of ['../outside.json', 'link.json', 'up/outside.json', './a/../../outside.json']) {
    const file = await started(make(given));
    expect([given, names(file)]).toEqual([given, []]);
    expect(file.problem()).toMatch(/leaves the folder/);
  }
  const absent = await started(make('absent.json'));
  expect(absent.problem()).toContain('absent.json does not exist');
});

test('folder, program and authority of a server go by the same rule', async () => {
  const { folder, root, make } = open();
  symlinkSync(root, join(folder, 'up'));
  const entries = [
    { name: 'fine', command: 'bin/home', cwd: 'work', caFile: '~/ca.pem' },
    { name: 'word', command: 'npx', cwd: root },
    { name: 'cwd', command: 'x', cwd: '..' },
    { name: 'program', command: 'up/x' },
    { name: 'ca', url: 'https://127.0.0.1:1', caFile: 'up/ca.pem' },
  ];
  const file = await started(make(JSON.stringify(entries)));
  expect(
    file.servers().map(({ config: { name, command, cwd, caFile } }) => [name, command, cwd, caFile]),
  ).toEqual([
    ['fine', join(folder, 'bin/home'), join(folder, 'work'), join(homedir(), 'ca.pem')],
    ['word', 'npx', root, undefined],
  ]);
  for (const name of ['cwd', 'program', 'ca']) {
    expect(file.warnings()).toContainEqual(expect.stringMatching(new RegExp(`^${name} .*leaves the folder`)));
  }
});

test('a pipe, a device, a folder, a file of 4 MiB and a byte are refused at once and read by nobody', async () => {
  const { root, folder, path, make } = open();
  execFileSync('mkfifo', [path]);
  const fifo = await started(make());
  expect(fifo.problem()).toMatch(/mcp-servers\.json.*not a regular file/);
  expect((await started(make('/dev/zero'))).problem()).toMatch(/not a regular file/);
  expect((await started(make(folder))).problem()).toMatch(/not a regular file|EISDIR/);
  const large = join(root, 'large.json');
  writeFileSync(large, `[]${' '.repeat(4 * 1024 * 1024 - 1)}`);
  expect((await started(make(large))).problem()).toContain('4194305 bytes');
  writeFileSync(large, `[]${' '.repeat(4 * 1024 * 1024 - 2)}`);
  expect((await started(make(large))).problem()).toBeUndefined();
});
