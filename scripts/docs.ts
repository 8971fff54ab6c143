import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ActionManifest, JsonSchema, Surface } from '../src/core/spec.ts';
import { SURFACES } from '../src/core/spec.ts';
import { ERRORS } from '../src/core/errors.ts';
import { agentsPage } from './agents-page.ts';
import { root, writeRegistry } from './registry.ts';

/** Writes docs/actions.md from the catalog and docs/agents.md from what was measured; with `--check` only tells whether they are fresh. */

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function surfaceCell(spec: ActionManifest, surface: Surface): string {
  const defaults = spec.surfaces[surface];
  if (defaults === undefined) return '–';
  const asks =
    defaults.approval === true ||
    (typeof spec.approvals === 'object' && spec.approvals.always.includes(surface));
  return `${defaults.exposure}${asks ? ', asks' : ''}${defaults.enabled === false ? ', off' : ''}`;
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  return schema.type ?? 'anything';
}

function fieldRows(schema: JsonSchema): string[] {
  return Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const required = schema.required?.includes(name) ? ' (required)' : '';
    return `| \`${name}\`${required} | ${cell(typeOf(field))} | ${cell(field.description ?? '')} |`;
  });
}

function section(spec: ActionManifest): string {
  const aliases = (spec.aliases ?? []).map(({ name }) => `\`${name}\``).join(', ');
  const lines = [
    `### \`${spec.id}\``,
    '',
    `${spec.title.en} · ${spec.title['zh-CN']}`,
    '',
    `${spec.summary} ${spec.description ?? ''}`.trim(),
    '',
    `Tool \`${spec.toolName}\`${aliases === '' ? '' : `, also ${aliases}`}. Effect: ${spec.effect}${spec.idempotent ? ', idempotent' : ''}.`,
    '',
    `| ${SURFACES.join(' | ')} |`,
    `|${' --- |'.repeat(SURFACES.length)}`,
    `| ${SURFACES.map((surface) => surfaceCell(spec, surface)).join(' | ')} |`,
    '',
  ];
  const rows = fieldRows(spec.inputSchema);
  if (rows.length > 0) lines.push('| input | type | meaning |', '| --- | --- | --- |', ...rows, '');
  lines.push('| output | type | meaning |', '| --- | --- | --- |', ...fieldRows(spec.outputSchema), '');
  for (const { title, input } of spec.examples)
    lines.push(`${title}:`, '', '```json', JSON.stringify(input), '```', '');
  if (spec.errors.length > 0)
    lines.push(`Errors: ${spec.errors.map((code) => `\`${code}\``).join(', ')}.`, '');
  return lines.join('\n');
}

function errorTable(): string[] {
  const rows = Object.entries(ERRORS).map(
    ([code, { http, exit, retryable }]) =>
      `| \`${code}\` | ${http} | ${exit} | ${retryable ? 'yes' : 'no'} |`,
  );
  return ['| code | HTTP status | CLI exit code | worth a retry |', '| --- | --- | --- | --- |', ...rows, ''];
}

async function render(): Promise<string> {
  await writeRegistry();
  const { registry } = await import('../src/app/registry.generated.ts');
  const { createCatalog } = await import('../src/core/catalog.ts');
  const { manifests } = createCatalog(registry);
  return [
    '# Actions',
    '',
    'Made from the catalog by `npm run docs`; do not edit. Surfaces show the defaults: `direct` has a tool or command of',
    'its own, `discoverable` is reached by search and `action_execute`, `asks` files an approval first, `–` is not there at all.',
    '',
    '| action | effect | for |',
    '| --- | --- | --- |',
    ...manifests.map(
      ({ id, effect, title }) => `| [\`${id}\`](#${id.replaceAll('.', '')}) | ${effect} | ${title.en} |`,
    ),
    '',
    '## Errors',
    '',
    'Exit code 0 is success and 3 means that an approval was filed.',
    '',
    ...errorTable(),
    '## Reference',
    '',
    ...manifests.map(section),
  ].join('\n');
}

const pages = [{ file: join(root, 'docs/actions.md'), render }, agentsPage];
for (const page of pages) {
  const fresh = await page.render();
  if (!process.argv.includes('--check')) {
    await writeFile(page.file, fresh);
  } else if ((await readFile(page.file, 'utf8').catch(() => '')) !== fresh) {
    const name = relative(root, page.file);
    process.stderr.write(`${name} is stale: run \`npm run docs\` and commit the result.\n`);
    process.exitCode = 1;
  }
}
