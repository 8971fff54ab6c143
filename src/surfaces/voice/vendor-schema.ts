import type { JsonSchema } from '../../core/spec.ts';
import type { Vendor, VendorSchema } from './vendors.ts';

/**
 * A schema in a vendor's own words: only the keywords that it takes. What a dropped limit would have said is said by the refusal
 * of a bad call.
 * @param name what the field is called, for vendors that want each described
 * @param isRoot the parameters of a tool as a whole, which are an object even where there are none
 */
export function toVendorSchema(
  schema: JsonSchema,
  vendor: Vendor,
  name = 'value',
  isRoot = false,
): VendorSchema {
  const described = isRoot ? schema : describe(schema, vendor, name);
  if (!isRoot && isFreeObject(schema) && vendor.freeObjects === 'as_text') {
    const text = `${described.description ?? 'An object.'} As JSON text.`;
    return { type: vendor.toType('string'), description: text };
  }
  const kept = Object.entries(described).filter(([keyword]) =>
    vendor.keywords.has(keyword as keyof JsonSchema),
  );
  return {
    ...Object.fromEntries(kept.map(([keyword, value]) => [keyword, convert(keyword, value, vendor)])),
    ...vendor.extra?.(schema),
  };
}

function convert(keyword: string, value: unknown, vendor: Vendor): unknown {
  switch (keyword) {
    case 'type':
      return vendor.toType(value as NonNullable<JsonSchema['type']>);
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Record<string, JsonSchema>).map(([name, field]) => [
          name,
          toVendorSchema(field, vendor, name),
        ]),
      );
    case 'items':
      return toVendorSchema(value as JsonSchema, vendor, 'item');
    case 'additionalProperties':
      return typeof value === 'object' ? toVendorSchema(value as JsonSchema, vendor) : value;
    default:
      return value;
  }
}

const describe = (schema: JsonSchema, vendor: Vendor, name: string): JsonSchema =>
  vendor.describesFields && schema.description === undefined
    ? { ...schema, description: `The ${name}.` }
    : schema;

/** Its fields are not listed: the caller names them. */
const isFreeObject = ({ type, properties }: JsonSchema): boolean =>
  type === 'object' && Object.keys(properties ?? {}).length === 0;
