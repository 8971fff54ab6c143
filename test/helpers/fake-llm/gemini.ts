import { isJson, type Json, named, objects, textOf, USED, type Wire } from './wire.ts';

/** Gemini's generateContent, whose model is in the path. */
export const gemini: Wire = {
  name: 'gemini',
  path: /:(stream)?generateContent$/i,
  read: (body, path) => ({
    model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
    stream: /:stream/i.test(path),
    tools: objects(body.tools).flatMap((tool) =>
      objects(tool.functionDeclarations).map(({ name }) => named(name, '')),
    ),
    entries: objects(body.contents)
      .filter(({ role }) => role !== 'model')
      .flatMap(({ parts }) => objects(parts))
      .map((part) =>
        isJson(part.functionResponse)
          ? { kind: 'result', text: JSON.stringify(part.functionResponse.response) }
          : { kind: 'user', text: textOf(part) },
      ),
  }),
  answer({ id, model }) {
    const all: Json[] = [];
    const toBody = (parts: Json[], finishReason?: string) => ({
      candidates: [
        { index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) },
      ],
      usageMetadata: {
        promptTokenCount: USED.input,
        candidatesTokenCount: USED.output,
        totalTokenCount: USED.input + USED.output,
      },
      modelVersion: model,
      responseId: id,
    });
    const add = (part: Json) => {
      all.push(part);
      return [{ data: toBody([part]) }];
    };
    return {
      begin: () => [],
      text: (text) => add({ text }),
      thought: (text) => add({ text, thought: true }),
      call: ({ id: callId, name, args }) =>
        add({ functionCall: { id: callId, name, args }, thoughtSignature: 'c2ln' }),
      end: () => [{ data: toBody([{ text: '' }], 'STOP') }],
      whole: () => toBody(all, 'STOP'),
    };
  },
};
