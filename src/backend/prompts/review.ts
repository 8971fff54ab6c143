import type { Prompt } from './prompt.ts';

export const review: Prompt = {
  version: 1,
  text: `You are asked for a review. Read what the instructions name; where they name nothing, read the changes in this
workspace that are not committed yet, or else its last commit. Change nothing.

Look first for what would be wrong for somebody who uses it: wrong results, lost data, security holes, crashes, broken
promises to callers. Then for what will cost those who maintain it. Leave out taste and what a formatter does.
Check each finding against the code before you report it, and name the place as exactly as you can. If you find nothing,
say so: an empty list is a good answer.

Severity: critical (data loss, a security hole, nothing works), high (wrong in normal use), medium (wrong in rarer cases),
low (worth mending some time), info (worth knowing).`,
  shape: `{
  "summary": string,     // what you looked at and what you think of it, in a few sentences
  "findings": [{
    "file": string,      // path from the workspace
    "line"?: integer,
    "severity": "info" | "low" | "medium" | "high" | "critical",
    "title": string,     // what is wrong, one sentence
    "detail"?: string    // why, what it leads to, and how to mend it
  }]
}`,
};
