import type { Hono } from 'hono';
import * as z from 'zod';
import { type ActionCall, type CallContext, CallWithdrawn } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import { SURFACES, type Surface } from '../../core/spec.ts';
import type { AgentGuard } from './agent-guard.ts';
import { sendEnvelope } from './answer.ts';
import type { Authenticate, Bearer } from './authenticate.ts';
import { MAX_CALL_BYTES, readChecked } from './body.ts';
import { type CatalogViews, createCatalogView } from './catalog-etag.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toCredential } from './web-credential.ts';

/**
 * The surface is the engine's to judge, a missing one too: it fails closed and is audited. A key that is not known is a
 * mistake: ignored, it would let a call do more than its caller asked for.
 */
const callSchema = z.strictObject({
  input: z.unknown().optional(),
  confirmation: z.union([z.string().max(40), z.number()]).nullish(),
  context: z.strictObject(
    {
      surface: z.string().optional(),
      sessionId: z.string().max(200).optional(),
      machineId: z.string().max(200).optional(),
      client: z.string().max(200).optional(),
      maxWaitSeconds: z.number().min(0).optional(),
      language: z.string().max(35).optional(),
    },
    { error: ({ input }) => (input === undefined ? 'needed, for example {"surface":"cli"}' : undefined) },
  ),
});

/** `POST /v1/actions/{id}` and `GET /v1/catalog`. */
export function addCallRoutes(
  app: Hono<HttpEnv>,
  options: CatalogViews & { authenticate: Authenticate; gate: Gate; agents: AgentGuard },
): void {
  const { engine, agents, authenticate, gate } = options;

  /** Calls under way that their caller can take back, by token and the caller's own name for the call. */
  const open = new Map<string, AbortController>();
  const callName = (bearer: Bearer, callId: string | undefined) =>
    callId === undefined ? undefined : `${bearer.tokenId} ${callId.slice(0, 100)}`;

  app.post('/v1/calls/:id/withdraw', async (c) => {
    const bearer = await authenticate(toCredential(c));
    const call = open.get(callName(bearer, c.req.param('id')) ?? '');
    call?.abort(new CallWithdrawn());
    return c.json({ withdrawn: call !== undefined });
  });

  app.post('/v1/actions/:id', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    const { input, confirmation, context } = await readChecked(c.env.incoming, callSchema, MAX_CALL_BYTES);
    const idempotencyKey = c.req.header('idempotency-key');
    const call: ActionCall = {
      actionId: c.req.param('id'),
      input,
      context: context as CallContext,
      ...(confirmation == null ? {} : { confirmation: String(confirmation) }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    };
    const name = callName(bearer, c.req.header('x-kaiwu-call'));
    const taken = new AbortController();
    if (name !== undefined) open.set(name, taken);
    const given = AbortSignal.any([c.req.raw.signal, taken.signal]);
    const envelope = await gate
      .run(given, (signal) =>
        engine.execute(
          call,
          { ...bearer, agentSession: () => agents.sessionBehind(c.env.incoming.socket) },
          signal,
        ),
      )
      .finally(() => name !== undefined && open.get(name) === taken && open.delete(name));
    // What a shutdown cut off was not given up by its caller.
    if (envelope.status === 'error' && envelope.error.code === 'canceled') gate.requireOpen();
    return sendEnvelope(c, envelope);
  });

  const view = createCatalogView(options);

  app.get('/v1/catalog', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    const surface = readSurface(c.req.query('surface'));
    return view(c, bearer, surface, [], (catalog) => catalog);
  });
}

function readSurface(given: string | undefined): Surface {
  const surface = SURFACES.find((each) => each === given);
  if (surface !== undefined) return surface;
  const message = `must be one of ${SURFACES.join(', ')}`;
  throw new KaiwuError(
    'invalid_input',
    `surface ${message}: received ${JSON.stringify(given?.slice(0, 40) ?? null)}.`,
    {
      details: { issues: [{ path: 'surface', message }] },
    },
  );
}
