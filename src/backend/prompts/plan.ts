import type { Prompt } from './prompt.ts';

export const plan: Prompt = {
  version: 1,
  text: `You are asked for a plan. Read as much of this workspace as the plan needs, and change nothing: somebody else will
carry it out, and knows only what you write.

Give steps that can be done one after the other, each small enough to be checked by itself, with the files that it touches.
Say in the detail of a step how to tell that it is done. Name the risks that could make the plan fail and what to do about
each. Where the instructions leave something open, choose the simplest reading and say so in the summary.`,
  shape: `{
  "summary": string,        // the way chosen and why, in a few sentences
  "steps": [{
    "title": string,        // what to do, one sentence
    "detail"?: string,      // how, and how to tell that it is done
    "files"?: [string]      // paths from the workspace
  }],
  "risks": [{
    "risk": string,         // what could go wrong
    "mitigation"?: string   // what to do about it
  }]
}`,
};
