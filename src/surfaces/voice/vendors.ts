import type { JsonSchema } from '../../core/spec.ts';

export const VOICE_FORMATS = ['openai-realtime', 'elevenlabs', 'gemini-live'] as const;
/** Whose tool definitions are asked for. */
export type VoiceFormat = (typeof VOICE_FORMATS)[number];

/** A schema as a vendor writes it. */
export type VendorSchema = { [keyword: string]: unknown };

/** A tool before it takes a vendor's shape. */
export interface VoiceTool {
  name: string;
  description: string;
  /** Absent where there are none and the vendor wants nothing then. */
  parameters?: VendorSchema;
}

/** What a vendor takes, as its documentation and its refusals tell. */
export interface Vendor {
  name: RegExp;
  parameterName: RegExp;
  /** Longest description of a tool, characters. */
  maxDescription: number;
  /** Keywords of a schema; any other is refused or ignored, so it is left out. */
  keywords: ReadonlySet<keyof JsonSchema>;
  toType(type: NonNullable<JsonSchema['type']>): string;
  /** An object whose fields are the caller's own is refused: it is asked for as JSON text. */
  freeObjects: 'taken' | 'as_text';
  /** What a tool without parameters has for them. */
  noParameters: 'empty_object' | 'nothing';
  /** Further keywords of a node. */
  extra?(schema: JsonSchema): VendorSchema;
  /** Whether every field must be described. */
  describesFields: boolean;
  toTool(tool: VoiceTool): object;
  /** The list as the vendor's session takes it. */
  toList(tools: object[]): object[];
}

const same = <T>(value: T): T => value;
const WORDS = ['type', 'description', 'properties', 'required', 'items', 'enum'] as const;
const LIMITS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;

export const VENDORS: Record<VoiceFormat, Vendor> = {
  /** `session.update`, field `session.tools`. Plain JSON Schema. */
  'openai-realtime': {
    name: /^[a-zA-Z0-9_-]{1,64}$/,
    parameterName: /^[a-zA-Z0-9_.-]{1,64}$/,
    maxDescription: 1024,
    keywords: new Set([...WORDS, ...LIMITS, 'default', 'additionalProperties']),
    toType: same,
    freeObjects: 'taken',
    noParameters: 'empty_object',
    describesFields: false,
    toTool: ({ name, description, parameters }) => ({ type: 'function', name, description, parameters }),
    toList: same,
  },
  /** A client tool: the page or program that holds the conversation carries it out. Only these keywords, each field described. */
  elevenlabs: {
    name: /^[a-zA-Z0-9_-]{1,64}$/,
    parameterName: /^[a-zA-Z0-9_-]{1,64}$/,
    maxDescription: 1024,
    keywords: new Set(WORDS),
    toType: same,
    freeObjects: 'as_text',
    noParameters: 'nothing',
    describesFields: true,
    toTool: (tool) => ({ type: 'client', ...tool, expects_response: true, response_timeout_secs: 60 }),
    toList: same,
  },
  /** Field `setup.tools` of the Live API: the subset of OpenAPI 3.0 schema that its parser knows. */
  'gemini-live': {
    name: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    parameterName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    maxDescription: 1024,
    keywords: new Set([...WORDS, ...LIMITS]),
    toType: (type) => type.toUpperCase(),
    freeObjects: 'as_text',
    noParameters: 'nothing',
    extra: (schema) => (schema.enum === undefined ? {} : { format: 'enum' }),
    describesFields: false,
    toTool: same,
    toList: (tools) => (tools.length === 0 ? [] : [{ functionDeclarations: tools }]),
  },
};
