import { registry } from '../src/app/registry.generated.ts';
import { createCatalog } from '../src/core/catalog.ts';
import { createActionSearch } from '../src/core/search.ts';
import type { Row } from './stats.ts';
import { median, quantile } from './stats.ts';

const QUERIES = [
  'rename the session',
  'renam sesion titel',
  'stop',
  '把会话改个名字',
  'which agents are installed here',
  'approve',
];

export function measureSearch(): Row {
  const { manifests } = createCatalog(registry);
  const index = createActionSearch(manifests);
  const samples: number[] = [];
  for (let i = 0; i < 3000; i++) {
    const started = performance.now();
    index.search(QUERIES[i % QUERIES.length]!);
    samples.push(performance.now() - started);
  }
  const warm = samples.slice(300);
  return {
    what: `\`action_spec_search\` in process, ${manifests.length} actions, p99`,
    ours: `${quantile(warm, 0.99).toFixed(2)} ms`,
    reference: `${median(warm).toFixed(2)} ms, its own median`,
    ratio: (quantile(warm, 0.99) / median(warm)).toFixed(1),
    target: 'p99 under 2 ms',
  };
}
