import { KaiwuError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports/host.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import { createRateLimit } from '../rate-limit.ts';
import { newSecret, type RandomBytes } from '../secrets.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** Signs in whoever can read a file of this machine: a secret that is good once. */
export interface Bootstrap {
  /** Makes the secret that is good from now on and hands it out. */
  rotate(): Promise<void>;
  /** @throws not_authenticated | rate_limited */
  redeem(secret: string, deviceName: string): Promise<SignedIn>;
}

export function createBootstrap(options: {
  signIn: SignIn;
  runtime: Pick<Runtime, 'sha256' | 'monotonicMs'>;
  randomBytes: RandomBytes;
  log: Logger;
  /** Puts the secret where only this machine's user reads it. */
  publish(secret: string): Promise<void>;
}): Bootstrap {
  const { runtime, log } = options;
  const wrongTries = createRateLimit({
    max: 10,
    perMs: 60_000,
    monotonicMs: runtime.monotonicMs,
    what: 'wrong bootstrap secrets',
  });
  let currentHash: string | undefined;

  async function rotate(): Promise<void> {
    const secret = newSecret(options.randomBytes);
    currentHash = runtime.sha256(secret);
    await options
      .publish(secret)
      .catch((error) => log.error({ error }, 'the bootstrap secret could not be written'));
  }

  return {
    rotate,
    async redeem(secret, deviceName) {
      wrongTries.check();
      // Digests are compared, so how long it takes says nothing of the secret.
      if (currentHash === undefined || runtime.sha256(secret) !== currentHash) {
        wrongTries.count();
        throw new KaiwuError('not_authenticated', 'The bootstrap secret is not the current one.', {
          hint: 'It is good once: read bootstrap.json of the backend again.',
        });
      }
      // Taken before anything is awaited: the second of two at once comes too late.
      currentHash = undefined;
      try {
        return await options.signIn(deviceName);
      } finally {
        await rotate();
      }
    },
  };
}
