import { expect, it } from 'vitest';
import { LEANEST, toolListTokens } from '../../bench/tokens.ts';
import { EMPTY_POLICY } from '../../src/core/policy.ts';

/** Every host pays this for every conversation. Raise it with a reason only. */
it('the tool list does not grow unseen', () => {
  const full = toolListTokens(EMPTY_POLICY);
  const lean = toolListTokens(LEANEST);
  expect(full.tools).toBe(36);
  expect(full.tokens).toBeLessThan(12_400);
  expect(lean.tools).toBe(5);
  expect(lean.tokens).toBeLessThan(1300);
});
