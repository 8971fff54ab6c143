import type { HttpBindings } from '@hono/node-server';

/** What a handler finds in its context. */
export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: { requestId: string };
}
