import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Hono } from 'hono';
import { PAGE_PATHS } from '../../core/pages.ts';
import type { HttpEnv } from './http-env.ts';

/** Nothing inline, nothing from elsewhere. `blob:` is what the page itself has made. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  'cross-origin-opener-policy': 'same-origin',
};

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

interface WebFile {
  type: string;
  plain: Buffer;
  /** Made when it is first asked for: a large part of the page is seldom loaded. */
  packed(): Promise<Buffer>;
}

const pack = promisify(gzip);

/** The built app from a folder: its files by their names, and its page under every path that is a page. */
export function addWebRoutes(app: Hono<HttpEnv>, folder: string): void {
  let loaded: Promise<Map<string, WebFile>> | undefined;
  async function files(): Promise<Map<string, WebFile>> {
    loaded ??= load(folder);
    const found = await loaded;
    // A build may be replacing the folder just now.
    if (found.size === 0) loaded = undefined;
    return found;
  }

  async function send(c: Context<HttpEnv>, name: string, cache: string): Promise<Response | undefined> {
    const file = (await files()).get(name);
    if (file === undefined) return undefined;
    for (const [header, value] of Object.entries(PAGE_HEADERS)) c.header(header, value);
    c.header('content-type', file.type);
    c.header('cache-control', cache);
    c.header('vary', 'accept-encoding');
    const packed = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    if (packed) c.header('content-encoding', 'gzip');
    return c.body(new Uint8Array(packed ? await file.packed() : file.plain));
  }

  // Their names change with what is in them.
  app.get('/assets/*', async (c) => {
    const sent = await send(c, c.req.path, 'public, max-age=31536000, immutable');
    return sent ?? c.notFound();
  });
  app.get('/icon.svg', async (c) => (await send(c, c.req.path, 'public, max-age=86400')) ?? c.notFound());
  for (const path of PAGE_PATHS) {
    app.get(path, async (c) => (await send(c, '/index.html', 'no-cache')) ?? c.notFound());
  }
}

/** Two megabytes, read once. */
async function load(folder: string): Promise<Map<string, WebFile>> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const known = names.filter((name) => extname(name) in TYPES);
  const entries = known.map(async (name): Promise<[string, WebFile]> => {
    const plain = await readFile(join(folder, name));
    let packed: Promise<Buffer> | undefined;
    const file = {
      type: TYPES[extname(name)]!,
      plain,
      packed: () => (packed ??= pack(plain, { level: 9 })),
    };
    return [`/${name.replaceAll('\\', '/')}`, file];
  });
  return new Map(await Promise.all(entries));
}
