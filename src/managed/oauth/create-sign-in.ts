import { KaiwuError } from '../../core/errors.ts';
import type { ManagedSignIn, RunnableServer } from '../../core/managed/managed.ts';
import type { ConnectionDeps } from '../connection.ts';

/** What signing in needs: the vault is the runtime's own, so that both see one set of tokens. */
export interface SignInOptions
  extends Required<Pick<ConnectionDeps, 'network' | 'vault' | 'now' | 'log' | 'version'>> {
  /** The server of a key, as it is configured now. */
  find(key: string): RunnableServer | undefined;
}

export function createSignIn(options: SignInOptions): ManagedSignIn {
  const refuse = (key: string) =>
    Promise.reject(new KaiwuError('mcp_server_not_found', `There is no managed server ${key}.`));
  return {
    begin: (key) => refuse(key),
    complete: () => Promise.reject(new KaiwuError('not_found', 'There is no such sign-in.')),
    forget: (key) => options.vault.write(key, undefined),
  };
}
