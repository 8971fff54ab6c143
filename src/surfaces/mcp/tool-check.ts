import { MANAGED_FAMILY, MAX_TOOL_NAME } from '../../core/managed/names.ts';
import { findSchemaProblems } from '../../core/schema-check.ts';
import type { McpTool } from './tools.ts';

/** With the longest prefix that hosts put before it, a name of this form still fits their limit of 60 or 64. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** The longest that fits the limit of 64 behind `mcp__kaiwu__`, and the characters that every host takes. */
const MANAGED_NAME = new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${MAX_TOOL_NAME - 1}}$`);

/** Whether it names a tool of a managed server: two underscores part the two, and no name of ours has them. */
export const isManagedName = (name: string): boolean =>
  name.includes('__') || name.startsWith(`${MANAGED_FAMILY}.`);

/** What some host would reject of a tool; empty when it suits all that are known. */
export function findPortabilityProblems(tool: McpTool): string[] {
  const problems: string[] = [];
  const form = isManagedName(tool.name) ? MANAGED_NAME : NAME;
  if (!form.test(tool.name)) problems.push(`name ${JSON.stringify(tool.name)} does not match ${form.source}`);
  if (tool.title.trim() === '') problems.push('the title is empty');
  if (tool.description.trim() === '') problems.push('the description is empty');
  for (const part of ['inputSchema', 'outputSchema'] as const) {
    const schema = tool[part];
    if (schema !== undefined)
      problems.push(...findSchemaProblems(schema).map((problem) => `${part}${problem}`));
  }
  return problems;
}
