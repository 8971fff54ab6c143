/** Global flags that take a value in the next word. */
export const VALUE_FLAGS: readonly string[] = ['--server', '--server-url', '--webapp-url', '--session'];
