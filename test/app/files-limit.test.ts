import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, startFilesWorld } from '../e2e/helpers/files-world.ts';
import { makeHome } from '../helpers/signed-in.ts';

describe('the limit of a file', () => {
  it.each(['KAIWU_FILE_MAX_BYTES', 'HAPPIER_WEB_DOWNLOAD_MAX_BYTES'])('is set by %s', async (name) => {
    const world = await startFilesWorld({ [name]: '1000' });
    try {
      await writeFile(join(world.workspace, 'fits'), 'x'.repeat(1000));
      await writeFile(join(world.workspace, 'not'), 'x'.repeat(1001));
      expect(codeOf(await world.send({ path: 'fits' }))).toBe('ok');
      expect(await world.send({ path: 'not' })).toMatchObject({
        error: { code: 'file_too_large', details: { maxBytes: 1000, sizeBytes: 1001 } },
      });
    } finally {
      await world.stop();
      await rm(world.workspace, { recursive: true, force: true });
    }
  });

  it.each([
    ['KAIWU_FILE_MAX_BYTES', 'ten'],
    ['KAIWU_FILE_MAX_BYTES', '-1'],
    ['KAIWU_FILE_MAX_BYTES', '0'],
    ['KAIWU_FILE_MAX_BYTES', '1.5'],
    ['KAIWU_FILE_MAX_BYTES', '1e9'],
    ['KAIWU_FILE_MAX_BYTES', '99999999999999999999'],
    ['HAPPIER_WEB_DOWNLOAD_MAX_BYTES', '100 MB'],
    ['KAIWU_FILES_TOTAL_BYTES', '10G'],
    ['KAIWU_FILES_TOTAL_BYTES', '0'],
  ])('%s of %s is an error at start', async (name, value) => {
    const home = await makeHome();
    for (const line of [
      ['up', '--no-open'],
      ['backend', 'start'],
    ]) {
      const { code, stderr } = await home.cli(line, { env: { [name]: value } });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${name} is "${value}"`)]);
    }
    await home.remove();
  });
});
