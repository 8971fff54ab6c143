import type { Hono } from 'hono';
import type { CatalogAnswer } from '../../core/feed.ts';
import type { Authenticate } from './authenticate.ts';
import { type CatalogViews, createCatalogView } from './catalog-etag.ts';
import type { Gate } from './gate.ts';
import type { HttpEnv } from './http-env.ts';
import { toCredential } from './web-credential.ts';

/** The catalog of surface `voice` as the tools of a vendor of voice models. @throws invalid_input for a format that is none */
export type ToVoiceTools = (catalog: CatalogAnswer, format: string | undefined) => object;

/** `GET /v1/surfaces/voice/tools?format=`. Calls come back as every other call does. */
export function addVoiceRoutes(
  app: Hono<HttpEnv>,
  options: CatalogViews & { authenticate: Authenticate; gate: Gate; toVoiceTools: ToVoiceTools },
): void {
  const { authenticate, gate, toVoiceTools } = options;
  const view = createCatalogView(options);

  app.get('/v1/surfaces/voice/tools', async (c) => {
    gate.requireOpen();
    const bearer = await authenticate(toCredential(c));
    const format = c.req.query('format');
    // A tag of anything but a format must not be believed: it is refused first.
    const known = toVoiceTools(
      { surface: 'voice', policyVersion: 0, backendVersion: '', actions: [] },
      format,
    );
    return view(c, bearer, 'voice', ['tools', JSON.stringify(known)], (catalog) =>
      toVoiceTools(catalog, format),
    );
  });
}
