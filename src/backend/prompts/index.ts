import type { RunIntent } from '../../core/run.ts';
import { delegate } from './delegate.ts';
import { plan } from './plan.ts';
import type { Prompt } from './prompt.ts';
import { review } from './review.ts';
import { voiceAgent } from './voice-agent.ts';

const PROMPTS: Record<RunIntent, Prompt> = { review, plan, delegate, voice_agent: voiceAgent };

export const promptVersion = (intent: RunIntent): number => PROMPTS[intent].version;

/** How an answer has to end, for every intent. */
const toShape = ({
  shape,
}: Prompt): string => `End your answer with one fenced block of JSON and nothing after it:

\`\`\`json
{ ... }
\`\`\`

Its shape, where "?" marks what may be left out:

${shape}`;

/** The first message of a run: what the intent is, the shape of its answer, and at the end what somebody wants of it. */
export function toPrompt(intent: RunIntent, instructions: string): string {
  const prompt = PROMPTS[intent];
  return `${prompt.text}\n\n${toShape(prompt)}\n\nThe instructions:\n\n${instructions}\n`;
}

/** Asks once more for an answer that strayed from the shape. */
export const toRepeatPrompt = (intent: RunIntent, problem: string): string =>
  `Your answer could not be read: ${problem}. Do no further work. Give the same answer again. ${toShape(PROMPTS[intent])}\n`;
