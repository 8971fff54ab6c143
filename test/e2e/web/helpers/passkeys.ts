import type { Page } from 'playwright-core';

export interface Authenticator {
  /** Credentials that it holds. */
  count(): Promise<number>;
  /** Whether it recognizes its person from now on. */
  recognize(person: boolean): Promise<void>;
}

/** Gives a page an authenticator that answers by itself. It stays with the page wherever that goes. */
export async function giveAuthenticator(page: Page, options: { hasPrf: boolean }): Promise<Authenticator> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...options,
    },
  });
  return {
    async count() {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials.length;
    },
    async recognize(isUserVerified) {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}
