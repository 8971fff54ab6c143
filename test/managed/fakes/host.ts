// Runs the one server of its argument, and says so once it is ready.
import { managedNetworkOf } from '../../../src/app/managed-network.ts';
import type { RunnableServer } from '../../../src/core/managed/managed.ts';
import { createManagedRuntime } from '../../../src/managed/runtime.ts';

const silent = () => {};
createManagedRuntime({
  now: () => new Date(),
  random: () => 0,
  env: process.env,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  network: managedNetworkOf({}),
  version: '0.0.0-test',
  onChange({ status }) {
    if (status === 'ready') process.stdout.write('ready\n');
  },
}).apply([JSON.parse(process.argv[2] ?? '') as RunnableServer]);
