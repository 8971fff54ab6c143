import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { startSpinner } from '../../../src/surfaces/cli/spinner.ts';

describe('progress', () => {
  it('is drawn on a terminal while it lasts, and leaves an empty line', async () => {
    const stderr = new PassThrough();
    const stop = startSpinner({ stderr, progress: true }, 'session message send');
    const [first] = await once(stderr, 'data');
    expect(String(first)).toMatch(/^\r. session message send 0 s$/);
    stop();
    let last = '';
    for (let part = stderr.read(); part !== null; part = stderr.read()) last += String(part);
    expect(last.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('is not drawn elsewhere', () => {
    const stderr = new PassThrough();
    startSpinner({ stderr, progress: false }, 'x')();
    startSpinner({ stderr, progress: true }, 'quick')();
    expect(stderr.read()).toBeNull();
  });
});
