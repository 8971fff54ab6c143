import type { ToolValidator } from '../core/managed/further-actions.ts';

/**
 * Judges arguments by a server's own schema, JSON Schema 2020-12 or draft-07. Compiled at the first call. A schema of a stranger can
 * neither hang nor crash the process.
 */
export declare function createValidator(schema: Record<string, unknown>): ToolValidator;
