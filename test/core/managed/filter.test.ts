import { describe, expect, it } from 'vitest';
import { createToolFilter, findUnusedPatterns } from '../../../src/core/managed/filter.ts';

const TOOLS = ['turn_on', 'turn_off', 'get_state', 'create_backup'];

const kept = (include_tools?: string[], exclude_tools?: string[]) =>
  TOOLS.filter((tool) => createToolFilter({ include_tools, exclude_tools })(tool) === undefined);

describe('filter of a server', () => {
  it.each<[string[] | undefined, string[] | undefined, string[]]>([
    [undefined, undefined, TOOLS],
    [[], undefined, []],
    [['turn_on'], undefined, ['turn_on']],
    [['turn_*'], undefined, ['turn_on', 'turn_off']],
    [['turn_o?'], undefined, ['turn_on']],
    [undefined, ['*backup*'], ['turn_on', 'turn_off', 'get_state']],
    [['turn_*', 'get_state'], ['turn_off'], ['turn_on', 'get_state']],
    [['turn_on'], ['turn_on'], []],
    [['nothing_such'], undefined, []],
    [undefined, ['nothing_such'], TOOLS],
    [['TURN_ON'], undefined, []],
    [['turn_'], undefined, []],
    [['*'], ['*'], []],
  ])('include %j, exclude %j', (include, exclude, left) => {
    expect(kept(include, exclude)).toEqual(left);
  });

  it('says which list left a tool out', () => {
    const filter = createToolFilter({ include_tools: ['turn_*'], exclude_tools: ['turn_off'] });
    expect(TOOLS.map(filter)).toEqual([undefined, 'exclude_tools', 'include_tools', 'include_tools']);
  });

  it('characters of other pattern languages stand for themselves', () => {
    const filter = createToolFilter({ include_tools: ['a.b', '(x)*', '[ab]'] });
    expect(['a.b', 'axb', '(x)yes', 'a', '[ab]'].map(filter)).toEqual([
      undefined,
      'include_tools',
      undefined,
      'include_tools',
      undefined,
    ]);
  });

  it('a pattern made to be slow is not', () => {
    const filter = createToolFilter({ include_tools: [`${'*a'.repeat(120)}b`] });
    const before = performance.now();
    expect(filter('a'.repeat(20_000))).toBe('include_tools');
    expect(performance.now() - before).toBeLessThan(2000);
  });

  it('what fits no tool is pointed out', () => {
    expect(findUnusedPatterns({ include_tools: ['turn_*', 'x'], exclude_tools: ['*y'] }, TOOLS)).toEqual([
      'include_tools names "x", which fits none of its tools',
      'exclude_tools names "*y", which fits none of its tools',
    ]);
  });
});
