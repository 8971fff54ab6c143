import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

interface Allowed {
  /** Folders of ours, beside its own. */
  ours: string[];
  npm: string[];
  /** Node's own modules: all, or none. */
  node: boolean;
}

/** Who may import what. A folder that is not here fails; so does an import that its row lacks. */
const TABLE: Record<string, Allowed> = {
  'src/core': { ours: [], npm: ['zod', 'minisearch', 'canonicalize', 'strip-json-comments'], node: false },
  actions: { ours: ['src/core'], npm: ['zod'], node: false },
  'src/surfaces/cli': { ours: ['src/core'], npm: ['picocolors'], node: true },
  'src/surfaces/mcp': { ours: ['src/core'], npm: ['@modelcontextprotocol/server'], node: true },
  'src/surfaces/voice': { ours: ['src/core'], npm: [], node: false },
  'src/backend': {
    ours: ['src/core'],
    npm: ['zod', 'hono', '@hono/node-server', 'ws', 'kysely', '@simplewebauthn/server'],
    node: true,
  },
  'src/daemon': {
    ours: ['src/core', 'src/process'],
    npm: ['zod', '@agentclientprotocol/sdk', 'ws', '@modelcontextprotocol/client', 'age-encryption'],
    node: true,
  },
  // Programs that are started for a person: their environment, their process group, and who ends it.
  'src/process': { ours: [], npm: [], node: true },
  // Managed MCP servers: one connection each, in the backend and in daemons.
  'src/managed': {
    ours: ['src/core', 'src/process'],
    npm: ['zod', '@modelcontextprotocol/client', 'ajv', 're2js'],
    node: true,
  },
  'src/client': { ours: ['src/core'], npm: ['zod', 'eventsource-parser', 'hpagent'], node: true },
  // The browser as the page meets it: its clock, network and storage.
  'src/web/browser': {
    ours: ['src/core'],
    npm: ['eventsource-parser', 'age-encryption', '@simplewebauthn/browser', '@noble/hashes', 'pdfjs-dist'],
    node: false,
  },
  'src/web': { ours: ['src/core', 'src/web/browser'], npm: ['solid-js'], node: false },
  'src/local': {
    ours: ['src/core'],
    npm: [
      'zod',
      '@napi-rs/keyring',
      '@photostructure/sqlite',
      'age-encryption',
      '@scure/bip39',
      '@scure/base',
    ],
    node: true,
  },
  'src/app': {
    ours: [
      'src/core',
      'actions',
      'src/surfaces/cli',
      'src/surfaces/mcp',
      'src/surfaces/voice',
      'src/backend',
      'src/daemon',
      'src/client',
      'src/managed',
      'src/process',
      'src/local',
    ],
    npm: ['zod', 'pino', 'nanoid', 'yaml', 'smol-toml'],
    node: true,
  },
};

/** Globals that only `src/app` and the adapters of the machine (`src/local`) and the browser (`src/web/browser`) may touch; elsewhere they are handed in. */
const AMBIENT =
  /\bDate\.now\(|\bnew Date\(\)|\bprocess\.env\b|\bconsole\.|(?<![.\w])fetch\(|\bMath\.random\(/;
const AMBIENT_ALLOWED = ['src/app', 'src/local', 'src/web/browser'];

/** Files over 300 lines, each with its reason. */
const LONG_FILES: Record<string, string> = {
  'src/web/i18n/en.ts': 'every text of the page, a line each',
  'src/web/i18n/zh-cn.ts': 'the same texts in Chinese',
  'test/backend/auth.test.ts': 'every way to sign in and to be refused, over one backend',
  'test/backend/events.test.ts': 'one stream and all that can happen to it',
  'test/backend/http.test.ts': 'the rules of one server, a few lines each',
  'test/backend/link.test.ts': 'one protocol and its bad peers',
  'test/backend/sessions.test.ts':
    'delivery, starts, stops and permissions share one scripted daemon; to be cut along those',
  'test/client/backend-client.test.ts': 'one client against every kind of bad server',
};

const everything = ['src', 'actions', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((entry) => join(folder, String(entry)).replaceAll('\\', '/'))
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.endsWith('.generated.ts')),
);

const files = everything.filter((file) => /^(src|actions)\//.test(file));

const folderOf = (file: string): string =>
  Object.keys(TABLE).find((folder) => file.startsWith(`${folder}/`)) ?? 'not in the table';

const sourceOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const importsOf = (source: string): string[] =>
  [...source.matchAll(/(?:from\s+|import\s+|import\()\s*'([^']+)'/g)].map((match) => match[1]!);

function problemOf(file: string, specifier: string): string | undefined {
  const folder = folderOf(file);
  const allowed = TABLE[folder];
  if (allowed === undefined) return `${file} is in no folder of the table`;
  // The version stands there, and is fixed into the bundles.
  if (folder === 'src/app' && specifier === '../../package.json') return undefined;
  if (specifier.startsWith('.')) {
    const target = folderOf(relative(root, resolve(join(root, file), '..', specifier)));
    return target === folder || allowed.ours.includes(target) ? undefined : `${file} imports ${target}`;
  }
  const builtin = specifier.startsWith('node:') || builtinModules.includes(specifier);
  if (builtin) return allowed.node ? undefined : `${file} imports ${specifier}`;
  const parts = specifier.split('/');
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
  return allowed.npm.includes(name) ? undefined : `${file} imports the package ${name}`;
}

describe('walls between the parts', () => {
  it('sees the tree', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(importsOf("import a from 'x';\nexport { b } from './y.ts';\nawait import('z');")).toEqual([
      'x',
      './y.ts',
      'z',
    ]);
  });

  it('each import is one that its folder may have', () => {
    const problems = files.flatMap((file) =>
      importsOf(sourceOf(file)).map((specifier) => problemOf(file, specifier)),
    );
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('a forbidden import is noticed', () => {
    expect(problemOf('src/core/x.ts', 'node:fs')).toContain('node:fs');
    expect(problemOf('src/core/x.ts', '../backend/y.ts')).toContain('src/backend');
    expect(problemOf('src/surfaces/mcp/x.ts', '../cli/y.ts')).toContain('src/surfaces/cli');
    expect(problemOf('src/daemon/x.ts', 'left-pad')).toContain('left-pad');
    expect(problemOf('src/novel/x.ts', './y.ts')).toContain('no folder');
  });

  it('clock, environment, console, network and chance are handed in', () => {
    const found = files
      .filter((file) => !AMBIENT_ALLOWED.includes(folderOf(file)))
      .flatMap((file) =>
        sourceOf(file)
          .split('\n')
          .map((line, i) => ({ line, at: `${file}:${i + 1}` }))
          .filter(({ line }) => AMBIENT.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line))
          .map(({ at, line }) => `${at} ${line.trim()}`),
      );
    expect(found).toEqual([]);
  });

  it('no file is over 300 lines without a reason, and no reason is stale', () => {
    const long = everything.filter((file) => sourceOf(file).split('\n').length > 301);
    expect(long.sort()).toEqual(Object.keys(LONG_FILES).sort());
  });

  it('files are named in kebab-case, actions by their ids', () => {
    const names = files.filter((file) => !file.startsWith('actions/')).map((file) => file.split('/').at(-1)!);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(name))).toEqual([]);
  });

  it('no action id stands outside actions/', () => {
    const ids = files
      .filter((file) => file.startsWith('actions/') && !file.includes('/_'))
      .map((file) => file.slice('actions/'.length, -'.ts'.length).replaceAll('/', '.'));
    const found = files
      .filter((file) => !file.startsWith('actions/'))
      .flatMap((file) => {
        const code = sourceOf(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        return ids
          .filter((id) => code.includes(`'${id}'`) || code.includes(`"${id}"`))
          .map((id) => `${file}: ${id}`);
      });
    expect(found.filter((place) => !LINK_METHODS.some((id) => place.endsWith(`: ${id}`)))).toEqual([]);
  });
});

/** Methods of the machine link that happen to be called like actions. */
const LINK_METHODS = ['session.stop', 'session.interrupt', 'session.archive'];
