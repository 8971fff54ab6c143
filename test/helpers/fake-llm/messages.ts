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

/** Anthropic's messages. */
export const messages: Wire = {
  name: 'messages',
  path: /\/messages$/,
  read: (body) => ({
    model: named(body.model, ''),
    stream: body.stream === true,
    tools: objects(body.tools).map(({ name }) => named(name, '')),
    entries: objects(body.messages).flatMap(({ role, content }) =>
      role === 'user' ? toEntries(content) : [],
    ),
  }),
  answer,
};

const toEntries = (content: unknown): Entry[] =>
  typeof content === 'string'
    ? [{ kind: 'user', text: content }]
    : objects(content).map((part) =>
        part.type === 'tool_result'
          ? { kind: 'result', text: textOf(part.content) }
          : { kind: 'user', text: textOf(part) },
      );

const usage = {
  input_tokens: USED.input,
  output_tokens: USED.output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

function answer({ id, model }: { id: string; model: string }): Answer {
  const content: Json[] = [];
  let openAt: number | undefined;

  const event = (type: string, rest: Json = {}): StreamEvent => ({ event: type, data: { type, ...rest } });
  const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model };
  const stopReason = () => (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');

  function close(): StreamEvent[] {
    if (openAt === undefined) return [];
    const index = openAt;
    openAt = undefined;
    return [event('content_block_stop', { index })];
  }
  /** Opens a block; `empty` is how it starts on the stream. */
  function open(block: Json, empty: Json): StreamEvent[] {
    const closed = close();
    openAt = content.push(block) - 1;
    return [
      ...closed,
      event('content_block_start', { index: openAt, content_block: { ...block, ...empty } }),
    ];
  }
  const delta = (part: Json) => event('content_block_delta', { index: openAt, delta: part });

  return {
    begin: () => [event('message_start', { message: { ...head, content: [], stop_reason: null, usage } })],
    text(text) {
      const isText = openAt !== undefined && content[openAt]?.type === 'text';
      const opened = isText ? [] : open({ type: 'text', text: '' }, {});
      const block = content[openAt!]!;
      block.text = `${String(block.text)}${text}`;
      return [...opened, delta({ type: 'text_delta', text })];
    },
    thought(text) {
      const signature = 'c2ln';
      return [
        ...open({ type: 'thinking', thinking: text, signature }, { thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: text }),
        delta({ type: 'signature_delta', signature }),
        ...close(),
      ];
    },
    call({ id: callId, name, args }) {
      return [
        ...open({ type: 'tool_use', id: `toolu_${callId}`, name, input: args }, { input: {} }),
        delta({ type: 'input_json_delta', partial_json: JSON.stringify(args) }),
        ...close(),
      ];
    },
    end: () => [
      ...close(),
      event('message_delta', {
        delta: { stop_reason: stopReason(), stop_sequence: null },
        usage: { output_tokens: USED.output },
      }),
      event('message_stop'),
    ],
    whole: () => ({ ...head, content, stop_reason: stopReason(), stop_sequence: null, usage }),
  };
}
