import { readdir, writeFile } from 'node:fs/promises';
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
}
