import { type Json, named, objects, isJson, textOf, USED, type Wire } from './wire.ts';

/** OpenAI's chat completions. */
export const chat: Wire = {
  name: 'chat',
  path: /\/chat\/completions$/,
  read: (body) => ({
    model: named(body.model, ''),
    stream: body.stream === true,
    tools: objects(body.tools).flatMap((tool) =>
      isJson(tool.function) ? named(tool.function.name, '') : [],
    ),
    entries: objects(body.messages).flatMap(({ role, content }) =>
      role === 'user' || role === 'tool'
        ? { kind: role === 'user' ? ('user' as const) : ('result' as const), text: textOf(content) }
        : [],
    ),
  }),
  answer({ id, model }) {
    let text = '';
    const calls: Json[] = [];
    const usage = {
      prompt_tokens: USED.input,
      completion_tokens: USED.output,
      total_tokens: USED.input + USED.output,
    };
    const head = { id, created: 1, model };
    const chunk = (delta: Json, finish: string | null = null) => ({
      data: {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    });
    const finish = () => (calls.length > 0 ? 'tool_calls' : 'stop');
    return {
      begin: () => [chunk({ role: 'assistant', content: '' })],
      text(part) {
        text += part;
        return [chunk({ content: part })];
      },
      thought: (part) => [chunk({ reasoning_content: part })],
      call({ id: callId, name, args }) {
        const call = {
          index: calls.length,
          id: callId,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        };
        calls.push(call);
        return [chunk({ tool_calls: [call] })];
      },
      end: () => [
        chunk({}, finish()),
        { data: { ...head, object: 'chat.completion.chunk', choices: [], usage } },
        { data: '[DONE]' },
      ],
      whole: () => ({
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            finish_reason: finish(),
            message: {
              role: 'assistant',
              content: text || null,
              ...(calls.length > 0 ? { tool_calls: calls } : {}),
            },
          },
        ],
        usage,
      }),
    };
  },
};
