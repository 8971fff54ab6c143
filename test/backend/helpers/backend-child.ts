/** A backend in a process of its own, to be killed: `backend-child.ts DATABASE`. Prints `{url, secret}` once it listens. */
import { createOutbound } from '../../../src/app/outbound.ts';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { createBackend } from '../../../src/backend/backend.ts';
import { createSqliteStore } from '../../../src/backend/store/sqlite/create-sqlite-store.ts';
import { createEngine } from '../../../src/core/create-engine.ts';
import type { Runtime } from '../../../src/core/ports/stores.ts';
import { registry } from '../../../src/app/registry.generated.ts';
import { openSqlite } from '../../../src/local/sqlite.ts';
import { managedIn } from './managed.ts';

const runtime: Runtime = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  bootMs: () => performance.now(),
  newId: (prefix) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
  newUuid: randomUUID,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};
const quiet = () => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

const backend = createBackend({
  store: await createSqliteStore(openSqlite(process.argv[2] as string), runtime),
  database: 'sqlite',
  createEngine: (parts) => createEngine({ ...parts, actions: registry }),
  runtime,
  randomBytes,
  log,
  managed: managedIn(dirname(process.argv[2] as string), log),
  outbound: createOutbound({}, '1.2.3'),
  version: '1.2.3',
  serverId: 'server-under-test',
  ownerId: randomUUID(),
  publishBootstrap: async (bootstrap) => {
    process.stdout.write(`${JSON.stringify(bootstrap)}\n`);
  },
});
await backend.listen();
// Nobody is left to serve once the test is gone.
process.stdin.on('end', () => process.exit(0)).resume();
