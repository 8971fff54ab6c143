import type { ManagedOptions } from '../backend/managed/managed.ts';
import type { Logger } from '../core/ports/host.ts';
import { createSignIn } from '../managed/oauth/create-sign-in.ts';
import { createManagedRuntime } from '../managed/runtime.ts';
import { createValidators } from '../managed/validate.ts';
import type { App } from './app.ts';
import { managedNetworkOf } from './managed-network.ts';

/** Managed MCP servers that run in the backend of this home. */
export function managedOf({ env, paths, runtime, version }: App, log: Logger): ManagedOptions {
  return {
    keyFile: paths.backend.secretsKey,
    validatorOf: createValidators(),
    create({ vault, onChange, find }) {
      const deps = { now: runtime.now, env, log, network: managedNetworkOf(env), vault, version };
      return {
        runtime: createManagedRuntime({ ...deps, random: Math.random, onChange }),
        signIn: createSignIn({ ...deps, find }),
      };
    },
  };
}
