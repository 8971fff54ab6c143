import type { Context } from 'hono';
import type { ActionEngine } from '../../core/engine.ts';
import { KaiwuError } from '../../core/errors.ts';
import { surfaceInScope } from '../../core/policy.ts';
import type { PoliciesPort } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { CatalogAnswer } from '../../core/feed.ts';
import type { Surface } from '../../core/spec.ts';
import type { Bearer } from './authenticate.ts';

export interface CatalogViews {
  engine: ActionEngine;
  policies: PoliciesPort;
  runtime: Pick<Runtime, 'sha256'>;
  serverId: string;
  version: string;
}

/** Answers with something made of a surface's catalog, under a tag that tells whether it has changed. */
export function createCatalogView({ engine, policies, runtime, serverId, version }: CatalogViews) {
  // Another backend, or a build that changed an action under the same version, is another catalog.
  const catalogDigest = runtime.sha256(JSON.stringify([serverId, version, engine.manifests]));

  /** @param view which view of the catalog it is, for the tag @throws forbidden when the token does not speak for the surface */
  return async (
    c: Context,
    bearer: Bearer,
    surface: Surface,
    view: string[],
    make: (catalog: CatalogAnswer) => object,
  ): Promise<Response> => {
    if (!surfaceInScope({ surface }, bearer.scope)) {
      throw new KaiwuError('forbidden', `This token may not call as surface ${JSON.stringify(surface)}.`, {
        hint: `Call as one of: ${bearer.scope.surfaces?.join(', ')}.`,
      });
    }
    const toEtag = (policyVersion: number) => {
      const parts = JSON.stringify([
        catalogDigest,
        engine.revision,
        policyVersion,
        surface,
        bearer.scope,
        ...view,
      ]);
      return `"${runtime.sha256(parts).slice(0, 32)}"`;
    };
    c.header('cache-control', 'private, no-cache');
    const current = toEtag((await policies.get()).version);
    if (matches(c.req.header('if-none-match'), current)) {
      c.header('etag', current);
      return c.body(null, 304);
    }
    const catalog = await engine.catalog(surface, bearer, version);
    const made = make(catalog);
    c.header('etag', toEtag(catalog.policyVersion));
    return c.json(made);
  };
}

const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((part) => {
    const tag = part.trim().replace(/^W\//, '');
    return tag === etag || tag === '*';
  });
