import { stringify } from 'yaml';
import type { PolicyDocument } from '../core/policy.ts';
import { toOrdered } from '../core/policy-diff.ts';
import { type JsonSchema, SURFACES } from '../core/spec.ts';
import { readYaml } from './yaml-text.ts';

export const POLICY_FORMATS = ['yaml', 'json'] as const;
export type PolicyFormat = (typeof POLICY_FORMATS)[number];

/** The same for every machine and time, so that version control sees changes of the policy alone. */
const HEAD = `# The policy of a Kaiwu account: what may run where, and what asks first.
# See what a change would do, then put it in force:
#   kaiwu policy diff FILE
#   kaiwu policy import FILE
# \`version\` is the one that this was made from. An import is refused once the policy has changed since; export again then.
`;

/** A policy as text, always in the same order. JSON has no comments, so it has no head. */
export function toPolicyText(document: PolicyDocument, format: PolicyFormat): string {
  const ordered = toOrdered(document);
  if (format === 'json') return `${JSON.stringify(ordered, undefined, 2)}\n`;
  return HEAD + stringify(ordered, { lineWidth: 0 });
}

/**
 * @param schema of a policy document
 * @throws invalid_input with file, line and column of everything that is not known or not as it should be
 */
export function readPolicyText(text: string, name: string, schema: JsonSchema): PolicyDocument {
  const names = (path: readonly string[]) =>
    path[0] === 'rules' && path.length === 2 ? SURFACES : undefined;
  return readYaml(text, name, { schema, names }) as PolicyDocument;
}
