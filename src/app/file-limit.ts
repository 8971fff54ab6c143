import { KaiwuError } from '../core/errors.ts';
import { type LimitFound, toFileLimit, toFilesTotal } from '../core/file.ts';

/** Largest file, bytes. @throws invalid_input naming the variable */
export const fileLimitOf = (env: NodeJS.ProcessEnv): number =>
  orThrow(toFileLimit(env), 'such as 104857600; without it the limit is 100 MiB');

/** All ciphertext of the account, bytes. @throws invalid_input naming the variable */
export const filesTotalOf = (env: NodeJS.ProcessEnv): number =>
  orThrow(toFilesTotal(env), 'such as 10737418240; without it the room is 10 GiB');

function orThrow(limit: LimitFound, such: string): number {
  if ('maxBytes' in limit) return limit.maxBytes;
  const { name, value } = limit.bad;
  throw new KaiwuError('invalid_input', `${name} is ${JSON.stringify(value.slice(0, 40))}.`, {
    hint: `It takes a number of bytes, ${such}.`,
  });
}
