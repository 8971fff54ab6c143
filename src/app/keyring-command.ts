/** Hidden command of the keyring's helper process. */
export const KEYRING_COMMAND = '__keyring';
