import { acquireProcessLock } from '../../../src/local/file-lock.ts';

// Holds a lock until it is killed.
await acquireProcessLock(process.argv[2]!);
process.send!('held');
setInterval(() => undefined, 1000);
