import * as z from 'zod';
import { defineAction } from '../../src/core/spec.ts';
import { maxResults, query, resultColumns, results, secondsFor, webErrors } from '../_web.ts';
import { EVERYDAY } from '../_surfaces.ts';

export default defineAction({
  id: 'searxng.search',
  title: { en: 'Search with SearXNG', 'zh-CN': '使用 SearXNG 搜索' },
  summary: 'Use to search the web through the SearXNG of the account alone.',
  effect: 'read',
  idempotent: true,
  openWorld: true,
  surfaces: EVERYDAY,
  approvals: 'default',
  session: 'none',
  anySession: true,
  needs: 'searxng',
  positionals: ['query'],
  columns: resultColumns,
  keywords: { en: ['searx', 'private search', 'metasearch'], 'zh-CN': ['元搜索', '私密搜索'] },
  examples: [{ title: 'A few pages', input: { query: 'sqlite full-text search', max_results: 3 } }],
  errors: webErrors,
  input: z.object({ query, max_results: maxResults }),
  output: results,
  run: ({ input, caller, ports, signal }) =>
    ports.web.search({ ...input, kind: 'searxng', seconds: secondsFor(caller) }, signal),
});
