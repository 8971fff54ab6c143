import type { ListedTool } from './listed-tools.ts';
import type { JsonSchema } from './spec.ts';

/** Characters that a token holds at least in most tokenisers: of Latin text three, of any other one. A guess on the safe side. */
export const estimateTokens = (text: string): number => {
  const others = [...text].filter((char) => char > '\u024f').length;
  return Math.ceil((text.length - others) / 3) + others;
};

const HEAD = `## Tools

Call a tool by its name with one JSON object as its input. A field marked * has to be given. An answer with
"kind": "approval_request_created" means that a person is asked first: nothing has been done yet.
`;

/**
 * What a model that is guided by text alone needs to know of its tools, as Markdown of at most `maxTokens` by `estimateTokens`.
 * Tools are told whole for as long as there is room, then by name and use, then by number.
 */
export function toToolInstructions(
  tools: readonly ListedTool[],
  maxTokens: number,
): { text: string; told: number; named: number; left: number } {
  const whole = tools.map(toWhole);
  const short = tools.map(({ name, summary }) => `- \`${name}\`: ${summary}\n`);
  const tail = (left: number) =>
    left === 0
      ? ''
      : `\n${left} more are not shown here; \`action_spec_search\` finds them by what they do.\n`;
  const fits = (told: number, named: number) =>
    estimateTokens(
      HEAD + whole.slice(0, told).join('') + short.slice(told, told + named).join('') + tail(tools.length),
    ) <= maxTokens;
  // Names first: to know that a tool is there is worth more than the fields of another one.
  const named = largest(tools.length, (count) => fits(0, count));
  const told = largest(named, (count) => fits(count, named - count));
  const left = tools.length - named;
  const text = HEAD + whole.slice(0, told).join('') + '\n' + short.slice(told, named).join('') + tail(left);
  return { text: fits(0, 0) ? text : '', told, named: named - told, left };
}

/** The largest number up to `max` for which `fits`; it fits up to some number and not beyond. */
function largest(max: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = max;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function toWhole({ name, summary, inputSchema }: ListedTool): string {
  const required = new Set(inputSchema.required);
  const fields = Object.entries(inputSchema.properties ?? {}).map(([field, schema]) =>
    toField(field, schema, required.has(field)),
  );
  return `\n### ${name}\n\n${summary}\n\n${fields.join('')}`;
}

function toField(name: string, schema: JsonSchema, required: boolean): string {
  const type =
    schema.enum?.join(' | ') ?? (schema.type === 'array' ? `${schema.items?.type ?? 'any'}[]` : schema.type);
  const words = schema.description === undefined ? '' : `: ${schema.description}`;
  return `- \`${name}\`${required ? '*' : ''} (${type ?? 'any'})${words}\n`;
}
