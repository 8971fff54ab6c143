import { KaiwuError } from '../../core/errors.ts';
import type { CatalogAnswer } from '../../core/feed.ts';
import { type ListedTool, toListedTools } from '../../core/listed-tools.ts';
import type { JsonSchema } from '../../core/spec.ts';
import { toVendorSchema } from './vendor-schema.ts';
import { VENDORS, type Vendor, VOICE_FORMATS, type VoiceFormat, type VoiceTool } from './vendors.ts';

/** A voice model chooses badly among many tools; what is left out stays callable by its id. */
const MAX_TOOLS = 20;

/** The one parameter that is no field of the action; the backend takes it out of the input again. */
const CONFIRMATION: JsonSchema = {
  type: 'string',
  description:
    'Leave out at first. Once the person has heard confirmation.words and said yes: the four digits of confirmation.code.',
};

const READ_BACK =
  'nothing is done at first: it answers confirmation.words to be said aloud. After a yes, call again with the same arguments and the code.';
const ASKS = 'A person is asked in the inbox first: it then answers an approval in place of its result.';

export interface VoiceTools {
  format: VoiceFormat;
  /** As the vendor's session takes them. */
  tools: object[];
  /** Names of tools that are not in the list: one too many, or of a form that the vendor refuses. */
  leftOut: string[];
}

/** The tools of a catalog in the exact shape of a vendor of voice models. @throws invalid_input for a format that is none */
export function toVoiceTools(catalog: CatalogAnswer, given: string | undefined): VoiceTools {
  const format = requireFormat(given);
  const vendor = VENDORS[format];
  const tools: VoiceTool[] = [];
  const leftOut: string[] = [];
  for (const tool of toListedTools(catalog.actions).map((listed) => toVoiceTool(listed, vendor))) {
    if (tools.length < MAX_TOOLS && isTaken(tool, vendor)) tools.push(tool);
    else leftOut.push(tool.name);
  }
  return { format, tools: vendor.toList(tools.map(vendor.toTool)), leftOut };
}

/** One action as a tool. */
export function toVoiceTool({ name, summary, inputSchema, entry }: ListedTool, vendor: Vendor): VoiceTool {
  const changes = entry.effect !== 'read';
  const properties = { ...inputSchema.properties, ...(changes ? { confirmation: CONFIRMATION } : {}) };
  const asks = entry.policy.outcome === 'asks';
  const condition = entry.forward === undefined ? 'To be sure of it' : 'Where it changes something';
  const readBack = changes ? `${condition}, ${READ_BACK}` : undefined;
  const description = toDescription(
    [summary, asks ? ASKS : readBack, entry.description],
    vendor.maxDescription,
  );
  if (Object.keys(properties).length === 0 && vendor.noParameters === 'nothing') return { name, description };
  return {
    name,
    description,
    parameters: toVendorSchema({ ...inputSchema, properties }, vendor, name, true),
  };
}

/** Whole parts as far as they fit: what must be known comes first. */
function toDescription(parts: (string | undefined)[], limit: number): string {
  const said = parts.filter((part) => part !== undefined && part !== '');
  while (said.length > 1 && said.join(' ').length > limit) said.pop();
  return said.join(' ').slice(0, limit);
}

function isTaken({ name, parameters }: VoiceTool, vendor: Vendor): boolean {
  const fields = Object.keys(parameters?.['properties'] ?? {});
  return vendor.name.test(name) && fields.every((field) => vendor.parameterName.test(field));
}

function requireFormat(given: string | undefined): VoiceFormat {
  const format = VOICE_FORMATS.find((each) => each === given);
  if (format !== undefined) return format;
  const message = `must be one of ${VOICE_FORMATS.join(', ')}`;
  const received = JSON.stringify(given?.slice(0, 40) ?? null);
  throw new KaiwuError('invalid_input', `format ${message}: received ${received}.`, {
    details: { issues: [{ path: 'format', message, received }] },
  });
}
