import { errorOf, type World } from '../helpers/world.ts';

export interface Item {
  id: string;
  text: string;
  [field: string]: unknown;
}

/** The actions of memory as a person in a shell calls them. */
export function createCalls(at: () => { world: World; token: string }) {
  const ok = (verb: string, input: object = {}, context: object = {}) => {
    const { world, token } = at();
    return world.ok(token, `memory.${verb}`, input, { surface: 'cli', ...context });
  };
  return {
    ok,
    refused: async (verb: string, input: object) =>
      errorOf(await at().world.call(at().token, `memory.${verb}`, input)),
    learn: async (text: string, more: object = {}) => (await ok('learn', { text, ...more }))['item'] as Item,
    list: async (input: object = {}) => (await ok('list', input))['items'] as Item[],
    find: async (query: string, more: object = {}) =>
      (await ok('fetch', { query, ...more }))['hits'] as Item[],
  };
}
