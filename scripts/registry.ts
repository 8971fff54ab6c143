import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** Actions by the id that their path gives, sorted. A leading underscore marks what actions share. */
export async function listActionFiles(): Promise<{ id: string; file: string }[]> {
  const entries = await readdir(join(root, 'actions'), { recursive: true });
  return entries
    .filter((entry) => entry.endsWith('.ts') && !entry.startsWith('_'))
    .map((entry) => entry.replaceAll('\\', '/'))
    .map((file) => ({ id: file.slice(0, -'.ts'.length).replaceAll('/', '.'), file }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The actions as an object of objects, each name of an id one step down: `session.list(input)`. */
function toActionTree(files: { id: string }[]): string {
  const tree: Tree = {};
  for (const [i, { id }] of files.entries()) {
    const parts = id.split('.');
    const parent = parts.slice(0, -1).reduce((at, part) => (at[part] ??= {}) as Tree, tree);
    parent[parts.at(-1)!] = `Of<typeof a${i}>`;
  }
  return toType(tree);
}

type Tree = { [name: string]: Tree | string };

const toType = (tree: Tree | string): string =>
  typeof tree === 'string'
    ? tree
    : `{ ${Object.entries(tree)
        .map(([name, branch]) => `${name}: ${toType(branch)}`)
        .join('; ')} }`;

/** Writes what the page may call, as types alone: no schema of an action is in its bundle. */
async function writeActionTypes(files: { id: string; file: string }[]): Promise<void> {
  const lines = [
    '// Made by scripts/registry.ts from the files under actions/. Not kept in git.',
    "import type * as z from 'zod';",
    "import type { Call } from './call.ts';",
    ...files.map(({ file }, i) => `import type a${i} from '../../../actions/${file}';`),
    '',
    "type Of<A extends { input: z.ZodType; output: z.ZodType }> = Call<z.input<A['input']>, z.output<A['output']>>;",
    `export type Actions = ${toActionTree(files)};`,
    '',
  ];
  await writeFile(join(root, 'src/web/api/actions.generated.ts'), lines.join('\n'));
}

/** Writes the catalog's registry, so that an action is declared by its file alone. */
export async function writeRegistry(): Promise<void> {
  const files = await listActionFiles();
  const lines = [
    '// Made by scripts/registry.ts from the files under actions/. Not kept in git.',
    "import type { AnyAction } from '../core/spec.ts';",
    ...files.map(({ file }, i) => `import a${i} from '../../actions/${file}';`),
    '',
    'export const registry: AnyAction[] = [',
    ...files.map((_, i) => `  a${i},`),
    '];',
    '',
  ];
  await writeFile(join(root, 'src/app/registry.generated.ts'), lines.join('\n'));
  await writeActionTypes(files);
  await writeTexts();
}

/** Prompts are written as Markdown and read as code, so that a bundle holds them. */
async function writeTexts(): Promise<void> {
  const folder = join(root, 'src/backend/assistant');
  const names = (await readdir(join(folder, 'texts'), { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort();
  const texts = await Promise.all(
    names.map(
      async (name) => [name.slice(0, -3), await readFile(join(folder, 'texts', name), 'utf8')] as const,
    ),
  );
  const lines = [
    '// Made by scripts/registry.ts from the files under texts/. Not kept in git.',
    `export const TEXTS: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(texts), null, 2)};`,
    '',
  ];
  await writeFile(join(folder, 'texts.generated.ts'), lines.join('\n'));
}
