import { expect, test } from 'vitest';
import { createUsageMeter } from '../../../src/daemon/acp/usage.ts';

test('tokens come as the protocol has them, else as Gemini CLI says them', () => {
  const meter = createUsageMeter();
  const quota = { token_count: { input_tokens: 11, output_tokens: 7 } };
  expect(meter.onPrompt({ _meta: { quota } })).toEqual({ inputTokens: 11, outputTokens: 7 });
  expect(meter.onPrompt({ usage: { inputTokens: 1, outputTokens: 2 }, _meta: { quota } })).toEqual({
    inputTokens: 1,
    outputTokens: 2,
  });
});

test.each([{}, { usage: null }, { _meta: null }, { _meta: { quota: { token_count: 'many' } } }])(
  'an answer without a count leaves what was known: %j',
  (answer) => {
    const meter = createUsageMeter();
    expect(meter.onPrompt(answer)).toBeUndefined();
    meter.onUpdate({ used: 5, size: 10 });
    expect(meter.onPrompt(answer)).toEqual({ contextUsed: 5, contextSize: 10 });
  },
);
