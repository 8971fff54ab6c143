import { ERRORS } from '../../core/errors.ts';
import { SURFACES } from '../../core/spec.ts';

export type Json = Record<string, unknown>;

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: Json): Json => ({ 'application/json': { schema } });
export const answer = (description: string, schema: Json): Json => ({ description, content: json(schema) });
export const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: 'object',
  properties,
  required,
});
export const text: Json = { type: 'string' };

export const CODE: Json = {
  type: 'string',
  description: 'On surface voice: the code of the words that the person has heard and agreed to.',
};

export const SCHEMAS: Json = {
  CallContext: {
    ...object(
      {
        surface: { type: 'string', enum: [...SURFACES] },
        sessionId: { type: 'string', description: 'Session used where the input names none.' },
        machineId: { type: 'string', description: 'Machine that the caller runs on.' },
        client: { type: 'string', description: 'What the client calls itself; a label.' },
        maxWaitSeconds: { type: 'number', minimum: 0, description: 'Longest wait inside one call.' },
        language: { type: 'string', description: 'Language of what is said to the person, BCP 47.' },
      },
      ['surface'],
    ),
    additionalProperties: false,
  },
  ApprovalRequired: object(
    {
      status: { type: 'string', const: 'approval_required' },
      approval: object({
        kind: { type: 'string', const: 'approval_request_created' },
        artifactId: text,
        actionId: text,
        summary: text,
        status: text,
        expiresAt: { type: 'string', format: 'date-time' },
        decideWith: text,
        waitWith: text,
      }),
      confirmation: {
        ...object({ code: text, words: text, expiresAt: { type: 'string', format: 'date-time' } }),
        description: 'On surface voice: the words to be said, and the code that a yes brings back.',
      },
    },
    ['status', 'approval'],
  ),
  Failure: object({
    status: { type: 'string', const: 'error' },
    error: object(
      {
        code: { type: 'string', enum: Object.keys(ERRORS) },
        message: text,
        hint: text,
        details: { type: 'object' },
        retryable: { type: 'boolean' },
      },
      ['code', 'message', 'retryable'],
    ),
  }),
};
