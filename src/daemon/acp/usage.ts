import type { Usage } from '../../core/session.ts';
import { isObject, type Json } from './json.ts';

/** Letters of a currency, as ISO 4217 has them. */
const CURRENCY = /^[A-Z]{3}$/;

export type UsageMeter = ReturnType<typeof createUsageMeter>;

/** Puts together what an agent says in pieces of what it used. Numbers that cannot be true are left out. */
export function createUsageMeter() {
  let usage: Usage | undefined;

  function merge(next: Usage): Usage | undefined {
    const said = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
    if (Object.keys(said).length > 0) usage = { ...usage, ...said };
    return usage;
  }

  return {
    current: () => usage,
    /** Of a `usage_update`. */
    onUpdate: (update: Json) =>
      merge({
        contextUsed: count(update.used),
        contextSize: count(update.size),
        cost: toCost(update.cost),
      }),
    /** Of the answer to a prompt. */
    onPrompt(answer: Json) {
      const said = toTokens(answer);
      return said === undefined
        ? usage
        : merge({
            inputTokens: count(said.inputTokens),
            outputTokens: count(said.outputTokens),
            totalTokens: count(said.totalTokens),
          });
    },
  };
}

/** As the protocol has it, else as Gemini CLI says it. */
function toTokens({ usage, _meta: meta }: Json): Json | undefined {
  if (isObject(usage)) return usage;
  const quota = isObject(meta) && isObject(meta.quota) ? meta.quota.token_count : undefined;
  return isObject(quota) ? { inputTokens: quota.input_tokens, outputTokens: quota.output_tokens } : undefined;
}

const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

function toCost(value: unknown): Usage['cost'] {
  if (!isObject(value)) return undefined;
  const { amount, currency } = value;
  const isAmount = typeof amount === 'number' && Number.isFinite(amount) && amount >= 0;
  return isAmount && typeof currency === 'string' && CURRENCY.test(currency)
    ? { amount, currency }
    : undefined;
}
