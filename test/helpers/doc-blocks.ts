import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The JSON blocks of a page under docs/, by what stands behind `json` in their first line. */
export function docBlocks(page: string): Map<string, unknown> {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  const blocks = text.matchAll(/^```json ([^\n]+)\n([\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, name, json]) => [name!, JSON.parse(json!) as unknown]));
}
