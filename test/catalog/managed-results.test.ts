import { expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';

it('no action of ours answers a list of content, by which a result of a managed tool is known, nor has a name like one', () => {
  const { manifests } = createCatalog(registry);
  const like = manifests.filter(
    ({ outputSchema, forward }) =>
      forward === undefined && outputSchema.properties?.content?.type === 'array',
  );
  expect(like.map(({ id }) => id)).toEqual([]);
  const names = manifests.flatMap(({ toolName, aliases = [] }) => [
    toolName,
    ...aliases.map(({ name }) => name),
  ]);
  expect(names.filter((name) => name.includes('__') || name.startsWith('managed'))).toEqual([]);
});
