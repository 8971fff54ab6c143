import { KaiwuError } from '../core/errors.ts';
import { toFileLimit } from '../core/file.ts';

/** Largest file, bytes. @throws invalid_input naming the variable */
export function fileLimitOf(env: NodeJS.ProcessEnv): number {
  const limit = toFileLimit(env);
  if ('maxBytes' in limit) return limit.maxBytes;
  const { name, value } = limit.bad;
  throw new KaiwuError('invalid_input', `${name} is ${JSON.stringify(value.slice(0, 40))}.`, {
    hint: 'It takes a number of bytes, such as 104857600; without it the limit is 100 MiB.',
  });
}
