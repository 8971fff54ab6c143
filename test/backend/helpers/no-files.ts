import { KaiwuError } from '../../../src/core/errors.ts';

const refuse = () => Promise.reject(new KaiwuError('file_not_found', 'no files here'));

/** The requests about files, for a daemon that has none. */
export const NO_FILES = {
  'session.look_at_file': refuse,
  'session.read_text': refuse,
  'session.send_file': refuse,
};
