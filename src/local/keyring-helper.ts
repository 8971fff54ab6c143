import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import type * as native from '@napi-rs/keyring';
import type { KeyringAnswer, KeyringStep } from './keyring.ts';

const SERVICE = 'kaiwu';

/** Pinned: the default on a machine without a desktop is the kernel's keyring, which forgets. */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

/** The helper process: steps on stdin, one answer on stdout. */
export async function serveKeyring(): Promise<void> {
  const answer = await run(JSON.parse(await text(process.stdin)) as KeyringStep[]);
  process.stdout.write(JSON.stringify(answer));
}

async function run(steps: KeyringStep[]): Promise<KeyringAnswer> {
  try {
    // Required, not imported: the module is native and may be missing on this platform.
    const { AsyncEntry } = createRequire(import.meta.url)('@napi-rs/keyring') as typeof native;
    const entry = (account: string) => new AsyncEntry(SERVICE, account, OPTIONS);
    const values: (string | null)[] = [];
    for (const step of steps) values.push(await runStep(step, entry));
    return { values };
  } catch (error) {
    return { error: toReason(error) };
  }
}

async function runStep(
  step: KeyringStep,
  entry: (account: string) => native.AsyncEntry,
): Promise<string | null> {
  switch (step.do) {
    case 'get':
      return entry(step.account).getPassword();
    case 'set':
      await entry(step.account).setPassword(step.secret);
      return null;
    case 'delete':
      await entry(step.account).deleteCredential();
      return null;
    case 'probe':
      await tryOut(entry(`probe ${randomUUID()}`));
      return null;
    default:
      throw new Error('it was asked for something that it cannot do');
  }
}

async function tryOut(entry: native.AsyncEntry): Promise<void> {
  await entry.setPassword('probe');
  const back = await entry.getPassword();
  await entry.deleteCredential();
  if (back !== 'probe') throw new Error('it did not give back what was stored');
}

/**
 * First line only: it goes into a one-line notice. Native errors quote D-Bus names, never secrets. That there is no keyring
 * at all, as on every server, is said in words of ours.
 */
function toReason(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  const isAbsent = /DBUS_SESSION_BUS_ADDRESS|ServiceUnknown|dbus-launch|No such file or directory/.test(text);
  return isAbsent ? 'this login has none (no D-Bus session)' : text.slice(0, 160);
}
