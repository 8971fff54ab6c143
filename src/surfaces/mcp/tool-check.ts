import { findSchemaProblems } from '../../core/schema-check.ts';
import type { McpTool } from './tools.ts';

/** With the longest prefix that hosts put before it, a name of this form still fits their limit of 60 or 64. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** What some host would reject of a tool; empty when it suits all that are known. */
export function findPortabilityProblems(tool: McpTool): string[] {
  const problems: string[] = [];
  if (!NAME.test(tool.name)) problems.push(`name ${JSON.stringify(tool.name)} does not match ${NAME.source}`);
  if (tool.title.trim() === '') problems.push('the title is empty');
  if (tool.description.trim() === '') problems.push('the description is empty');
  for (const part of ['inputSchema', 'outputSchema'] as const) {
    problems.push(...findSchemaProblems(tool[part]).map((problem) => `${part}${problem}`));
  }
  return problems;
}
