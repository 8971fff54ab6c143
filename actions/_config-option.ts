import type * as z from 'zod';
import type { ConfigOption } from '../src/core/session.ts';
import type { configOption } from './_shapes.ts';

/** On every surface a value is a text: no host has a field of two types. */
export const toConfigOption = (option: ConfigOption): z.input<typeof configOption> => ({
  ...option,
  value: String(option.value),
});
