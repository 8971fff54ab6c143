import type { ServerConfig } from './config.ts';

/** What becomes of a tool's name: undefined where it is taken, else which list leaves it out. */
export type ToolFilter = (tool: string) => 'include_tools' | 'exclude_tools' | undefined;

/** The server's filter: first what is included, then what is excluded, which wins. Names, or patterns with `*` and `?`. */
export function createToolFilter(config: Pick<ServerConfig, 'include_tools' | 'exclude_tools'>): ToolFilter {
  const included = config.include_tools === undefined ? undefined : toMatcher(config.include_tools);
  const excluded = toMatcher(config.exclude_tools ?? []);
  return (tool) => {
    if (included !== undefined && !included(tool)) return 'include_tools';
    return excluded(tool) ? 'exclude_tools' : undefined;
  };
}

/** Entries of the filter that fit none of the tools, for a warning. */
export function findUnusedPatterns(
  config: Pick<ServerConfig, 'include_tools' | 'exclude_tools'>,
  tools: readonly string[],
): string[] {
  const unused = (field: 'include_tools' | 'exclude_tools') =>
    (config[field] ?? [])
      .filter((pattern) => !tools.some(toMatcher([pattern])))
      .map((pattern) => `${field} names ${JSON.stringify(pattern)}, which fits none of its tools`);
  return [...unused('include_tools'), ...unused('exclude_tools')];
}

function toMatcher(patterns: readonly string[]): (tool: string) => boolean {
  const names = new Set(patterns);
  const globs = patterns.filter((pattern) => /[*?]/.test(pattern));
  return (tool) => names.has(tool) || globs.some((glob) => matches(glob, tool));
}

/** Without going back further than the last star: linear in practice, and never worse than length times length. */
function matches(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g++;
      resume = t;
    } else if (glob[g] === '?' || glob[g] === text[t]) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++resume;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
