import type { HostMethod } from '../../core/spec.ts';
import { isRecord } from './messages.ts';
import { toVisibleItem, toVisibleJsonText } from './result.ts';

type Fields = Record<string, unknown>;

/** How one method of the protocol becomes the input of an action, and the action's output a result. */
interface HostMethodShape {
  toInput(params: Fields): Fields;
  toResult(output: Fields): Fields;
  /** Whether a host that follows nothing may keep the result for a while. */
  isList?: boolean;
}

const JSON_TYPE = 'application/json';

/** What strangers wrote stands in visible characters, as in results of tools. */
const toRows = (rows: unknown): Fields[] => (rows as Fields[]).map(toVisibleItem);

function toContents({ uri, mimeType, text }: Fields): Fields {
  const item = toVisibleItem({ uri, mimeType, text });
  return mimeType === JSON_TYPE ? { ...item, text: toVisibleJsonText(String(text)) } : item;
}

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const fieldOf = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined);

export const HOST_SHAPES: Record<HostMethod, HostMethodShape> = {
  'resources/list': {
    isList: true,
    toInput: () => ({}),
    toResult: ({ resources }) => ({ resources: toRows(resources) }),
  },
  'resources/templates/list': {
    isList: true,
    toInput: () => ({}),
    toResult: ({ templates }) => ({ resourceTemplates: templates }),
  },
  'resources/read': {
    toInput: ({ uri }) => given({ uri }),
    toResult: (output) => ({ contents: [toContents(output)] }),
  },
  'prompts/list': {
    isList: true,
    toInput: () => ({}),
    toResult: ({ prompts }) => ({
      prompts: (prompts as Fields[]).map((prompt) => ({
        ...prompt,
        // All of them have to be given: a prompt without them would say half of what it is about.
        arguments: (prompt['arguments'] as Fields[]).map((argument) => ({ ...argument, required: true })),
      })),
    }),
  },
  'prompts/get': {
    toInput: ({ name, arguments: values }) => given({ name, arguments: values }),
    toResult: ({ description, text }) => ({
      description,
      messages: [{ role: 'user', content: toVisibleItem({ type: 'text', text }) }],
    }),
  },
  'completion/complete': {
    toInput: ({ argument, context }) =>
      given({
        argument: fieldOf(argument, 'name'),
        value: fieldOf(argument, 'value'),
        given: fieldOf(context, 'arguments'),
      }),
    toResult: ({ values, total, hasMore }) => ({ completion: { values, total, hasMore } }),
  },
};
