import type { Caller } from '../../core/call.ts';
import { KaiwuError } from '../../core/errors.ts';
import type { IdentityPort } from '../../core/ports/governance.ts';
import type { Runtime } from '../../core/ports/stores.ts';
import type { Revocations } from '../revocations.ts';
import { newToken, type RandomBytes, readUserCode, showUserCode } from '../secrets.ts';
import type { BackendStore, DeviceCode } from '../store/store.ts';

const DAY_MS = 86_400_000;

export function createIdentity(options: {
  store: Pick<BackendStore, 'identity' | 'deviceCodes'>;
  runtime: Runtime;
  randomBytes: RandomBytes;
  revocations: Revocations;
}): IdentityPort {
  const { runtime, revocations } = options;
  const { identity, deviceCodes } = options.store;

  return {
    async listDevices(caller) {
      return (await identity.listDevices()).map((device) => ({
        ...device,
        current: device.deviceId === caller.deviceId,
      }));
    },

    async revokeDevice(deviceId) {
      const device = await identity.revokeDevice(deviceId);
      if (device === undefined) throw unknown('device', deviceId, 'kaiwu device list');
      revocations.announce({ deviceId });
      return { ...device, current: false };
    },

    async approveDevice(userCode, caller, sealedKey) {
      requireFullSignIn(caller, 'sign a device in');
      const found = await findWaiting(deviceCodes, runtime, userCode);
      if (!(await deviceCodes.move(found.deviceCodeHash, 'pending', 'approved', sealedKey))) {
        throw new KaiwuError(
          'conflict',
          `The code ${showUserCode(found.userCode)} has been decided on already.`,
        );
      }
      return { deviceName: found.deviceName };
    },

    listTokens: () => identity.listTokens(),

    async createToken({ name, kind = 'api', scope, expiresInDays }, caller) {
      requireFullSignIn(caller, 'make tokens');
      const token = newToken(options.randomBytes);
      const stored = await identity.insertToken({
        tokenId: runtime.newId('tok'),
        hash: runtime.sha256(token),
        kind,
        name,
        scope: kind === 'voice' ? { ...scope, surfaces: ['voice'] } : scope,
        ...(expiresInDays === undefined
          ? {}
          : { expiresAt: new Date(runtime.now().getTime() + expiresInDays * DAY_MS).toISOString() }),
      });
      return { ...stored, token };
    },

    async revokeToken(tokenId) {
      const token = await identity.revokeToken(tokenId);
      if (token === undefined) throw unknown('token', tokenId, 'kaiwu token list');
      revocations.announce({ tokenId });
      return token;
    },
  };
}

/** The request of the device that shows a code. @throws not_found */
export async function findWaiting(
  deviceCodes: Pick<BackendStore['deviceCodes'], 'findByUserCode'>,
  runtime: Pick<Runtime, 'now'>,
  userCode: string,
): Promise<DeviceCode> {
  const code = readUserCode(userCode);
  const found = await deviceCodes.findByUserCode(code);
  if (found !== undefined && found.expiresAt > runtime.now().toISOString()) return found;
  throw new KaiwuError('not_found', `No device waits with the code ${showUserCode(code.slice(0, 20))}.`, {
    hint: 'Compare it with the one that the device shows; codes are good for 15 minutes.',
  });
}

/** A token that is good for less must not become one that is good for more. */
function requireFullSignIn(caller: Caller, deed: string): void {
  const { surfaces, actions, sessionId } = caller.scope;
  const full = surfaces === undefined && actions === undefined && sessionId === undefined;
  if (full && (caller.tokenKind === 'device' || caller.tokenKind === 'web')) return;
  throw new KaiwuError('permission_escalation_denied', `A limited token cannot ${deed}.`, {
    hint: 'Do it from a signed-in device or browser.',
  });
}

const unknown = (what: string, id: string, command: string) =>
  new KaiwuError('not_found', `No ${what} ${JSON.stringify(id.slice(0, 80))} is known.`, {
    hint: `\`${command}\` lists them.`,
  });
