import { describe, expect, it } from 'vitest';
import type { KaiwuError } from '../../../src/core/errors.ts';
import { parseServers } from '../../../src/core/managed/parse-config.ts';

const parse = (value: unknown) => parseServers(typeof value === 'string' ? value : JSON.stringify(value));
const home = { url: 'http://127.0.0.1:9/mcp' };
const db = { command: 'db-server', args: ['--db', 'x'] };

function refusal(text: string): KaiwuError {
  try {
    parseServers(text);
  } catch (error) {
    return error as KaiwuError;
  }
  throw new Error('was taken');
}

describe('forms of a configuration', () => {
  const both = [
    { ...home, name: 'home' },
    { ...db, name: 'db' },
  ];
  it.each<[string, unknown]>([
    ['a list', both],
    ['a list of JSON texts', both.map((server) => JSON.stringify(server))],
    ['the map of most hosts', { mcpServers: { home, db } }],
    ['VS Code', { inputs: [], servers: { home: { type: 'http', ...home }, db: { type: 'stdio', ...db } } }],
    ['VS Code settings', { 'editor.fontSize': 12, mcp: { servers: { home, db } } }],
    [
      'OpenCode',
      {
        $schema: 'https://opencode.ai/config.json',
        mcp: {
          home: { type: 'remote', ...home },
          db: { type: 'local', command: ['db-server', '--db', 'x'] },
        },
      },
    ],
    ['Gemini CLI', { mcpServers: { home: { httpUrl: home.url }, db } }],
    ['a bare map', { home, db }],
    ['a text in a field', { enabled: true, servers: JSON.stringify(both) }],
    ['with comments and a mark', `\uFEFF// mine\n${JSON.stringify(both)} /* end */`],
  ])('%s', (_, value) => {
    expect(parse(value)).toEqual({ servers: both, warnings: [], errors: [] });
  });

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['white space and a comment', ' \n// none yet\n'],
    ['an empty list', []],
    ['an empty object', {}],
    ['an empty map', { mcpServers: {} }],
    ['switched off', { enabled: false, mcpServers: { home } }],
    ['switched off, one level down', { tools: { mcp: { enabled: false, servers: [home] } } }],
    ['switched off and empty', { enabled: false }],
  ])('%s is no servers', (_, value) => {
    expect(parse(value)).toEqual({ servers: [], warnings: [], errors: [] });
  });

  it('one server alone, which may be disabled', () => {
    expect(parse({ name: 'home', ...home, enabled: false }).servers).toEqual([
      { name: 'home', ...home, enabled: false },
    ]);
  });

  it('all fields of ours', () => {
    const whole = {
      name: 'whole',
      ...home,
      token: 't',
      headers: { 'X-Key': 'k' },
      oauth: { clientId: 'c', scope: 'a b' },
      include_tools: ['a*'],
      exclude_tools: ['ab'],
      enabled: true,
      trusted: true,
      exposure: 'discoverable',
      where: 'backend',
      sessions: { agents: ['codex'] },
      caFile: '~/ca.pem',
      timeoutSeconds: 5,
      connectTimeoutSeconds: 1,
      listTimeoutSeconds: 2,
      startTimeoutSeconds: 3,
    };
    expect(parse([whole])).toEqual({ servers: [whole], warnings: [], errors: [] });
  });
});

describe('spellings of hosts', () => {
  it.each<[object, object]>([
    [
      { ...home, includeTools: ['a'], excludeTools: ['b'] },
      { ...home, include_tools: ['a'], exclude_tools: ['b'] },
    ],
    [
      { ...home, timeout: 600_000 },
      { ...home, timeoutSeconds: 600 },
    ],
    [
      { ...home, timeout: 60 },
      { ...home, timeoutSeconds: 60 },
    ],
    [
      { ...home, disabled: true },
      { ...home, enabled: false },
    ],
    [{ serverUrl: home.url }, home],
    [
      { command: ['a', 'b'], environment: { PORT: 80 } },
      { command: 'a', args: ['b'], env: { PORT: '80' } },
    ],
    [
      { ...home, oauth: { enabled: true, scopes: ['a', 'b'] } },
      { ...home, oauth: { scope: 'a b' } },
    ],
    [{ ...home, token: '', args: null }, home],
    [{ ...home, description: 'mine', gallery: true }, home],
  ])('%j', (given, config) => {
    expect(parse([given])).toEqual({ servers: [{ name: 'unnamed', ...config }], warnings: [], errors: [] });
  });

  it('what asks less of the person is not taken over', () => {
    const { servers, warnings } = parse({
      mcpServers: { home: { ...home, trust: true, autoApprove: ['x'] } },
    });
    expect(servers).toEqual([{ name: 'home', ...home }]);
    expect(warnings).toHaveLength(2);
  });
});

describe('entries that are odd or wrong', () => {
  it('without a way to the server: skipped, the rest load', () => {
    const { servers, warnings, errors } = parse({ mcpServers: { a: {}, home, b: { args: [] } } });
    expect(servers.map(({ name }) => name)).toEqual(['home']);
    expect(warnings).toEqual([
      'Entry 1 (a): has neither url nor command and is skipped.',
      'Entry 3 (b): has neither url nor command and is skipped.',
    ]);
    expect(errors).toEqual([]);
  });

  it('wrong ones are named by number, name and field, and the rest load', () => {
    const { servers, errors } = parse([
      { name: 'both', ...home, ...db },
      home,
      7,
      '{broken',
      { name: 'text', command: 'x', args: '--flag' },
      { name: 'secret', url: home.url, token: 5, headers: { Authorization: ['s3cret'] } },
      { name: 'place', url: 'file:///etc/passwd' },
      { name: 5, ...home },
    ]);
    expect(servers).toEqual([{ name: 'unnamed', ...home }]);
    expect(errors).toEqual([
      'Entry 1 (both): has both url and command; a server has one of them.',
      'Entry 3: must be an object (received 7).',
      'Entry 4: must be an object (received "{broken").',
      'Entry 5 (text): args must be a list (received "--flag").',
      'Entry 6 (secret): token must be a text; headers.Authorization must be a text.',
      'Entry 7 (place): url must be an address with http:// or https:// (received "file:///etc/passwd").',
      'Entry 8: name must be a text (received 5).',
    ]);
  });

  it('unknown keys name the nearest one', () => {
    expect(parse([{ ...home, exclude_tool: ['x'] }]).warnings).toEqual([
      'Entry 1: exclude_tool is not known and passed over; nearest: exclude_tools.',
    ]);
  });

  it('names are made usable and unique', () => {
    const { servers, warnings } = parse([
      home,
      home,
      { name: 'My Server!', ...home },
      { name: 'UNNAMED', ...db },
    ]);
    expect(servers.map(({ name }) => name)).toEqual(['unnamed', 'unnamed-2', 'My-Server', 'UNNAMED-3']);
    expect(warnings).toHaveLength(2);
    expect(parseServers(JSON.stringify([home]), ['Unnamed']).servers[0]?.name).toBe('unnamed-2');
  });

  it('placeholders of hosts are pointed out', () => {
    expect(parse([{ ...home, token: '${env:TOKEN}' }]).warnings[0]).toContain('not filled in');
  });

  it('more than a hundred are cut', () => {
    const { servers, errors } = parse(Array.from({ length: 101 }, () => home));
    expect([servers.length, errors.length]).toEqual([100, 1]);
  });
});

describe('texts that are no configuration', () => {
  it.each<[string, number, number]>([
    ['{"mcpServers": {\n  "a": {"url": "x",}\n}}', 2, 20],
    ['[1, // one\n 2', 2, 3],
    ['{\n"a": /* b\n', 2, 6],
    ["{'a': 1}", 1, 2],
  ])('%j', (text, line, column) => {
    const { code, details } = refusal(text);
    expect({ code, details }).toEqual({ code: 'invalid_input', details: { line, column } });
  });

  it('over 4 MiB', () => {
    const text = JSON.stringify([{ ...home, name: '漢'.repeat(1_400_000) }]);
    expect(refusal(text).code).toBe('payload_too_large');
    expect(parse(`${JSON.stringify([home])}${' '.repeat(4_000_000)}`).servers).toHaveLength(1);
  });
});
