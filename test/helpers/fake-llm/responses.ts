import {
  type Answer,
  type Entry,
  type Json,
  named,
  objects,
  type StreamEvent,
  textOf,
  USED,
  type Wire,
} from './wire.ts';

/** OpenAI's responses. A tool of a group is called as `GROUP::NAME`. */
export const responses: Wire = {
  name: 'responses',
  path: /\/responses$/,
  read: (body) => ({
    model: named(body.model, ''),
    stream: body.stream === true,
    tools: toolNames(body),
    entries: typeof body.input === 'string' ? [{ kind: 'user', text: body.input }] : toEntries(body.input),
  }),
  answer,
};

/** Some models are offered their tools in the history. */
const toolNames = (body: Json): string[] =>
  [...objects(body.tools), ...objects(body.input).filter(({ type }) => type === 'additional_tools')].map(
    ({ name, type }) => named(name, named(type, '')),
  );

const toEntries = (input: unknown): Entry[] =>
  objects(input).flatMap(({ role, type, content, output }): Entry[] => {
    if (role === 'user') return [{ kind: 'user', text: textOf(content) }];
    return named(type, '').endsWith('_call_output') ? [{ kind: 'result', text: textOf(output) }] : [];
  });

function answer({ id, model }: { id: string; model: string }): Answer {
  const output: Json[] = [];
  let message: { item: Json; part: Json & { text: string }; index: number } | undefined;
  let sequence = 0;

  const event = (type: string, rest: Json): StreamEvent => ({
    event: type,
    data: { type, sequence_number: sequence++, ...rest },
  });
  const response = (status: string) => ({
    id,
    object: 'response',
    created_at: 1,
    status,
    model,
    output,
    parallel_tool_calls: false,
    tool_choice: 'auto',
    tools: [],
    usage:
      status === 'completed'
        ? {
            input_tokens: USED.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: USED.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: USED.input + USED.output,
          }
        : null,
  });
  const add = (item: Json): number => output.push(item) - 1;
  const done = (item: Json, index: number) =>
    event('response.output_item.done', { output_index: index, item });

  function openMessage(): StreamEvent[] {
    if (message !== undefined) return [];
    const part = { type: 'output_text', text: '', annotations: [] };
    const item = {
      id: `msg_${id}_${output.length}`,
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [part],
    };
    const index = add(item);
    message = { item, part, index };
    const opened = { ...item, content: [] };
    return [event('response.output_item.added', { output_index: index, item: opened })];
  }
  function closeMessage(): StreamEvent[] {
    if (message === undefined) return [];
    const { item, part, index } = message;
    message = undefined;
    item.status = 'completed';
    const where = { item_id: item.id, output_index: index, content_index: 0 };
    return [
      event('response.output_text.done', { ...where, text: part.text }),
      event('response.content_part.done', { ...where, part }),
      done(item, index),
    ];
  }

  return {
    begin: () => [event('response.created', { response: response('in_progress') })],
    text(text) {
      const opened = openMessage();
      message!.part.text += text;
      const where = { item_id: message!.item.id, output_index: message!.index, content_index: 0 };
      return [...opened, event('response.output_text.delta', { ...where, delta: text })];
    },
    thought(text) {
      const closed = closeMessage();
      const item = {
        id: `rs_${id}_${output.length}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text }],
      };
      const index = add(item);
      const where = { item_id: item.id, output_index: index, summary_index: 0 };
      return [
        ...closed,
        event('response.output_item.added', { output_index: index, item: { ...item, summary: [] } }),
        event('response.reasoning_summary_part.added', {
          ...where,
          part: { type: 'summary_text', text: '' },
        }),
        event('response.reasoning_summary_text.delta', { ...where, delta: text }),
        event('response.reasoning_summary_text.done', { ...where, text }),
        done(item, index),
      ];
    },
    call({ id: callId, name, args }) {
      const closed = closeMessage();
      const [group, own] = name.includes('::') ? name.split('::') : [undefined, name];
      const item: Json = {
        id: `fc_${id}_${output.length}`,
        type: 'function_call',
        status: 'in_progress',
        call_id: callId,
        name: own,
        ...(group === undefined ? {} : { namespace: group }),
        arguments: '',
      };
      const index = add(item);
      const added = event('response.output_item.added', { output_index: index, item: { ...item } });
      item.arguments = JSON.stringify(args);
      item.status = 'completed';
      const where = { item_id: item.id, output_index: index };
      return [
        ...closed,
        added,
        event('response.function_call_arguments.delta', { ...where, delta: item.arguments }),
        event('response.function_call_arguments.done', { ...where, arguments: item.arguments }),
        done(item, index),
      ];
    },
    end: () => [...closeMessage(), event('response.completed', { response: response('completed') })],
    whole: () => response('completed'),
  };
}
