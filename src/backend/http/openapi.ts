import { ACCOUNT_KEY_PATH } from '../../core/file.ts';
import { PASSKEY_PATHS } from '../../core/passkey.ts';
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { type ActionManifest, SURFACES } from '../../core/spec.ts';
import { answer, CODE, json, object, ref, SCHEMAS, text, type Json } from './openapi-schemas.ts';

/** Errors that any call can end in, whatever its action. */
const COMMON_ERRORS: ErrorCode[] = [
  'not_authenticated',
  'forbidden',
  'action_disabled',
  'invalid_input',
  'payload_too_large',
  'timeout',
  'canceled',
  'backend_unreachable',
  'internal',
];

/** The HTTP API as an OpenAPI 3.1 document: one operation for each action, and what stands around them. */
export function toOpenApi(manifests: readonly ActionManifest[], version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kaiwu',
      version,
      description: 'Control plane for coding agents. Every action is one operation.',
    },
    security: [{ bearer: [] }],
    paths: {
      ...Object.fromEntries(manifests.map((manifest) => [`/v1/actions/${manifest.id}`, toPath(manifest)])),
      ...FIXED_PATHS,
    },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, schemas: SCHEMAS },
  };
}

function toPath(manifest: ActionManifest): Json {
  return {
    post: {
      operationId: manifest.toolName,
      summary: manifest.summary,
      ...(manifest.description === undefined ? {} : { description: manifest.description }),
      tags: [manifest.id.split('.')[0]],
      'x-effect': manifest.effect,
      'x-surfaces': Object.keys(manifest.surfaces),
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'Same key and same input: same outcome, run once.',
          schema: { type: 'string', maxLength: 200 },
        },
      ],
      requestBody: {
        required: true,
        content: json({
          type: 'object',
          properties: { input: manifest.inputSchema, confirmation: CODE, context: ref('CallContext') },
          required: ['context'],
          additionalProperties: false,
        }),
      },
      responses: {
        200: answer(
          'It ran.',
          object({ status: { type: 'string', const: 'ok' }, output: manifest.outputSchema }),
        ),
        202: answer('Filed for a person to decide.', ref('ApprovalRequired')),
        ...errorAnswers([...COMMON_ERRORS, ...manifest.errors]),
      },
    },
  };
}

/** One answer for each HTTP status, naming the codes that carry it. */
function errorAnswers(codes: ErrorCode[]): Json {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codes) {
    const { http } = ERRORS[code];
    byStatus.set(http, (byStatus.get(http) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [status, answer([...names].join(', '), ref('Failure'))]),
  );
}

const post = (summary: string, body: Json, output: Json, codes: ErrorCode[], open: boolean): Json => ({
  post: {
    summary,
    ...(open ? { security: [] } : {}),
    ...(Object.keys(body).length === 0
      ? {}
      : { requestBody: { required: true, content: json(object(body)) } }),
    responses: { 200: answer('Done.', output), ...errorAnswers(codes) },
  },
});

const query = (name: string, schema: Json, required = false): Json => ({
  name,
  in: 'query',
  required,
  schema,
});

const FIXED_PATHS: Json = {
  '/v1/catalog': {
    get: {
      summary: 'Actions of a surface, with what the policy says of each. Carries an ETag.',
      parameters: [query('surface', { type: 'string', enum: [...SURFACES] }, true)],
      responses: {
        200: answer('The catalog.', { type: 'object' }),
        304: { description: 'Unchanged.' },
        ...errorAnswers(['not_authenticated', 'forbidden', 'invalid_input']),
      },
    },
  },
  '/v1/surfaces/voice/tools': {
    get: {
      summary: "The catalog as a voice vendor's tool definitions. Carries an ETag.",
      parameters: [
        query('format', { type: 'string', enum: ['openai-realtime', 'elevenlabs', 'gemini-live'] }, true),
      ],
      responses: {
        200: answer(
          'The tools.',
          object({
            format: text,
            tools: { type: 'array', items: {} },
            leftOut: { type: 'array', items: text },
          }),
        ),
        304: { description: 'Unchanged.' },
        ...errorAnswers(['not_authenticated', 'forbidden', 'invalid_input']),
      },
    },
  },
  '/v1/events': {
    get: {
      summary: 'What changes, as server-sent events; Last-Event-ID resumes without loss.',
      parameters: [query('types', text), query('sessionId', text), query('deltas', text)],
      responses: {
        200: { description: 'The stream.', content: { 'text/event-stream': { schema: text } } },
        ...errorAnswers(['not_authenticated', 'invalid_input', 'backend_unreachable']),
      },
    },
  },
  '/v1/auth/bootstrap': post(
    'Signs a device in with the one-time secret of this machine.',
    { secret: text, deviceName: text },
    object({ token: text, tokenId: text, deviceId: text, serverId: text }),
    ['not_authenticated', 'rate_limited', 'unsupported'],
    true,
  ),
  '/v1/auth/device/code': post(
    'Begins a device sign-in (RFC 8628).',
    { device_name: text },
    object({
      device_code: text,
      user_code: text,
      verification_uri: text,
      expires_in: { type: 'integer' },
      interval: { type: 'integer' },
    }),
    ['rate_limited', 'invalid_input'],
    true,
  ),
  '/v1/auth/device/token': {
    post: {
      summary: 'Asks for the token of a device sign-in (RFC 8628).',
      security: [],
      requestBody: { required: true, content: json(object({ grant_type: text, device_code: text })) },
      responses: {
        200: answer('Signed in.', object({ access_token: text, token_type: text, device_id: text })),
        400: answer('Not yet, or never.', object({ error: text })),
      },
    },
  },
  '/v1/auth/app-link': post(
    'Makes a link that opens the app signed in: good once, for five minutes.',
    { sealedKey: text },
    object({ url: text, expiresInSeconds: { type: 'integer' } }),
    ['not_authenticated', 'permission_escalation_denied'],
    false,
  ),
  '/v1/auth/app-link/redeem': {
    post: {
      summary:
        'Signs a browser in by a link, or by a code of RFC 8628: sets the cookie that goes with the answer.',
      security: [],
      requestBody: { required: true, content: json(object({ key: text, browser: text }, ['key'])) },
      responses: {
        200: answer(
          'Signed in.',
          object({ pageKey: text, deviceId: text, sealedKey: text }, ['pageKey', 'deviceId']),
        ),
        400: answer('Not yet, or never.', object({ error: text })),
      },
    },
  },
  [PASSKEY_PATHS.addOptions]: post(
    'Begins to add a passkey: the options of WebAuthn for it. For a browser that is signed in.',
    {},
    { type: 'object' },
    ['not_authenticated', 'permission_escalation_denied', 'unsupported', 'conflict', 'rate_limited'],
    false,
  ),
  [PASSKEY_PATHS.add]: post(
    'Adds the passkey that the browser has made.',
    { name: text, response: { type: 'object' } },
    object({ passkeyId: text, name: text, site: text }),
    ['not_authenticated', 'permission_escalation_denied', 'invalid_input', 'conflict'],
    false,
  ),
  [PASSKEY_PATHS.signInOptions]: post(
    'Begins a sign-in by a passkey: the options of WebAuthn for it.',
    {},
    { type: 'object' },
    ['permission_escalation_denied', 'unsupported', 'rate_limited'],
    true,
  ),
  [PASSKEY_PATHS.signIn]: post(
    'Signs a browser in by what its passkey answered: sets the cookie that goes with the answer.',
    { response: { type: 'object' }, browser: text },
    object({ pageKey: text, deviceId: text, sealedKey: text }, ['pageKey', 'deviceId']),
    ['not_authenticated', 'permission_escalation_denied', 'invalid_input', 'rate_limited'],
    true,
  ),
  '/v1/auth/logout': post(
    'Revokes the calling token and its device.',
    {},
    object({ tokenId: text, deviceId: text }, ['tokenId']),
    ['not_authenticated'],
    false,
  ),
  '/v1/files/{fileId}/content': {
    get: {
      summary: 'Ciphertext of a file that was sent, as age writes it.',
      parameters: [{ name: 'fileId', in: 'path', required: true, schema: text }],
      responses: {
        200: {
          description: 'The ciphertext.',
          content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
        },
        ...errorAnswers(['not_authenticated', 'forbidden', 'not_found']),
      },
    },
    head: {
      summary: 'Whether the ciphertext is there, and its size as content-length.',
      parameters: [{ name: 'fileId', in: 'path', required: true, schema: text }],
      responses: {
        200: { description: 'It is there.' },
        ...errorAnswers(['not_authenticated', 'forbidden', 'not_found']),
      },
    },
  },
  [ACCOUNT_KEY_PATH]: {
    get: {
      summary: 'Recipient of age that files of the account are encrypted to.',
      responses: {
        200: answer('Absent until the first sign-in has made the key.', object({ recipient: text }, [])),
        ...errorAnswers(['not_authenticated', 'forbidden']),
      },
    },
  },
  '/v1/whoami': {
    get: {
      summary: 'What the calling token is good for.',
      responses: { 200: answer('It is known.', { type: 'object' }), ...errorAnswers(['not_authenticated']) },
    },
  },
};
