import type { Logger } from '../core/ports/host.ts';

/** A service that runs until told to end. */
export interface Service {
  /** Told to whoever started it. */
  ready: { url?: string; port?: number };
  stop(): Promise<void>;
  /** Settles when the service cannot go on by itself; never otherwise. */
  failed?: Promise<Error>;
}

/**
 * Runs a service in this process until `signal` aborts. A supervisor hears that it is ready over the IPC channel.
 * @throws what `failed` settles with
 */
export async function serve(service: Service, log: Logger, signal: AbortSignal): Promise<void> {
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
  // A supervisor that is gone is told of by the signal; what was said to it is lost, and nobody misses it.
  process.send?.({ type: 'ready', ...service.ready }, undefined, undefined, () => undefined);
  log.info({ ...service.ready }, 'ready');
  const ended = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const failure = await Promise.race([ended, service.failed ?? ended]);
  log.info({}, 'stopping');
  await service.stop();
  if (failure !== undefined) throw failure;
}
