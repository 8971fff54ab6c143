import { findSchemaProblems } from '../schema-check.ts';
import type { JsonSchema } from '../spec.ts';

/** A server's schema in the shapes that every host accepts, or why there is none. */
export type PortableToolSchema =
  | {
      schema: JsonSchema;
      /** Fields of the root for which the server takes `null`. */
      clearable: string[];
    }
  | { leftOut: string };

/**
 * Rewrites a server's schema for lists of tools. What a host's shapes cannot say is said in words; calls are judged by the original.
 */
export function toPortableToolSchema(original: Record<string, unknown>): PortableToolSchema {
  const schema = { ...original, properties: original['properties'] ?? {} } as JsonSchema;
  delete (schema as Record<string, unknown>)['$schema'];
  const [problem] = findSchemaProblems(schema);
  return problem === undefined ? { schema, clearable: [] } : { leftOut: problem };
}
