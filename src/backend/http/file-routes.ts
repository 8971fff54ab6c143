import { Readable } from 'node:stream';
import type { Hono } from 'hono';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { ACCOUNT_KEY_PATH, FILES_PATH, RECIPIENT, SEALED_MAX, WAITING_PATH } from '../../core/file.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { noSuchFile, type Uploads } from '../blobs/uploads.ts';
import { findWaiting } from '../ports/identity.ts';
import type { BackendStore } from '../store/store.ts';
import type { AgentGuard } from './agent-guard.ts';
import type { AuthAudit } from './auth-audit.ts';
import type { Authenticate, Bearer } from './authenticate.ts';
import { readChecked } from './body.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toCredential } from './web-credential.ts';

/** Largest JSON body here, bytes. */
const MAX_BYTES = 2 * SEALED_MAX;

const recipient = z.string().regex(RECIPIENT, 'must be a recipient of age');
const keySchema = z.object({ recipient, replaces: recipient.optional() });
const describedSchema = z.object({ sizeBytes: z.int().min(0), sealed: z.string().min(1).max(SEALED_MAX) });

/** Where this backend keeps ciphertext. */
export interface FileStorage {
  blobs: Blobs;
  uploads: Uploads;
}

/** Ciphertext in and out, and the account's public key. */
export function addFileRoutes(
  app: Hono<HttpEnv>,
  options: {
    store: Pick<BackendStore, 'files' | 'deviceCodes'>;
    runtime: Pick<Runtime, 'now'>;
    storage: FileStorage | undefined;
    authenticate: Authenticate;
    agents: AgentGuard;
    audit: AuthAudit;
    gate: Gate;
  },
): void {
  const { store, storage, runtime, authenticate, agents, audit, gate } = options;
  const { files } = store;

  async function person(credential: string | undefined): Promise<Bearer> {
    gate.requireOpen();
    const bearer = await authenticate(credential);
    const { surfaces, actions, sessionId } = bearer.scope;
    const isFull = surfaces === undefined && actions === undefined && sessionId === undefined;
    if (isFull && (bearer.kind === 'device' || bearer.kind === 'web')) return bearer;
    throw new KaiwuError(
      'forbidden',
      'Files are for signed-in devices and browsers; this token is limited.',
      {
        hint: 'Use a device that `kaiwu auth login` signed in.',
      },
    );
  }

  app.get(ACCOUNT_KEY_PATH, async (c) => {
    await person(toCredential(c));
    return c.json({ recipient: await files.recipient() });
  });

  app.put(ACCOUNT_KEY_PATH, async (c) => {
    const bearer = await person(toCredential(c));
    await agents.refuseAgents(c.env.incoming, { name: 'auth.key', bearer });
    const body = await readChecked(c.env.incoming, keySchema, MAX_BYTES);
    if (!(await files.setRecipient(body.recipient, body.replaces))) {
      const current = await files.recipient();
      if (current === body.recipient) return c.json({ recipient: current });
      throw new KaiwuError('conflict', 'The account has another key already.', {
        hint: 'Link this device to one that has it, or restore it: `kaiwu auth recovery restore`.',
        details: { recipient: current },
      });
    }
    await audit({ name: 'auth.key', bearer, input: body });
    return c.json({ recipient: body.recipient });
  });

  app.get(`${WAITING_PATH}/:userCode`, async (c) => {
    await person(toCredential(c));
    const { deviceName, recipient: to } = await findWaiting(
      store.deviceCodes,
      runtime,
      c.req.param('userCode'),
    );
    return c.json({ deviceName, recipient: to });
  });

  if (storage === undefined) return;
  const { blobs, uploads } = storage;

  app.put(`${FILES_PATH}/:fileId`, async (c) => {
    await person(toCredential(c));
    return c.json(
      await uploads.take(c.req.param('fileId'), c.env.incoming.iterator({ destroyOnReturn: false })),
    );
  });

  app.post(`${FILES_PATH}/:fileId/commit`, async (c) => {
    await person(toCredential(c));
    await uploads.commit(
      c.req.param('fileId'),
      await readChecked(c.env.incoming, describedSchema, MAX_BYTES),
    );
    return c.json({});
  });

  app.get(`${FILES_PATH}/:fileId/content`, async (c) => {
    await person(toCredential(c));
    const file = await files.get(c.req.param('fileId'));
    if (file === undefined) throw noSuchFile(c.req.param('fileId'));
    const bytes = await blobs.size(file.fileId);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(bytes),
      'content-disposition': 'attachment',
    };
    // GET and HEAD are one route: whoever asks for the head alone opens no file.
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    return c.body(Readable.toWeb(blobs.read(file.fileId)) as ReadableStream, 200, headers);
  });
}
