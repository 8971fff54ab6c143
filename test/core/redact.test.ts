import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/app/log.ts';
import { redact, redactText } from '../../src/core/redact.ts';
import { makeFolder } from '../helpers/kaiwu.ts';

const CANARY = 'c4n4ry-9f8e7d6c5b';

describe('redaction', () => {
  const named = [
    'token',
    'accessToken',
    'GITHUB_PERSONAL_ACCESS_TOKEN',
    'X-Api-Key',
    'apiKey',
    'OPENAI_API_KEY',
    'password',
    'passwd',
    'PGPASSWORD',
    'clientSecret',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'privateKey',
    'credentials',
    'AWS_SECRET_ACCESS_KEY',
    'encryption_key',
  ];
  it.each(named)('a field called %s is not shown', (name) => {
    const shown = JSON.stringify(redact({ deep: [{ [name]: CANARY }], [name]: { inner: CANARY } }));
    expect(shown).not.toContain(CANARY.slice(0, 8));
  });

  it('a field that an action declares secret is not shown, at the root only', () => {
    expect(redact({ pin: 1, deep: { pin: 2 } }, ['pin', 'absent'])).toEqual({
      pin: '[redacted]',
      deep: { pin: 2 },
    });
  });

  const texts = [
    `Authorization: Bearer ${CANARY}`,
    `authorization: basic ${CANARY}`,
    `https://user:${CANARY}@host.example/x`,
    `https://${CANARY}@host.example/x`,
    `?access_token=${CANARY}&x=1`,
    `https://host.example/mcp?a=1&key=${CANARY}&b=2`,
    `Cookie: a=1; sid=${CANARY}`,
    `GITHUB_TOKEN=${CANARY}`,
    `{"password": "${CANARY}"}`,
    `--api-key ${CANARY}`,
    `kw_${CANARY}`,
    `sk-ant-${CANARY}`,
  ];
  it.each(texts)('is left out of %j', (text) => {
    expect(redactText(text)).not.toContain(CANARY.slice(0, 8));
    expect(
      JSON.stringify(redact({ error: new Error(text, { cause: new Error(text) }), list: [text] })),
    ).not.toContain(CANARY.slice(0, 8));
  });

  it('leaves ids, numbers and words alone', () => {
    const fields = {
      tokenId: 'tok_1',
      sessionId: 'sess_1',
      actionId: 'token.list',
      idempotencyKey: 'k1',
      n: 1,
      text: 'the token was revoked',
    };
    expect(redact(fields)).toEqual(fields);
  });

  it('ends on rings and depths', () => {
    const ring: Record<string, unknown> = { a: 1 };
    ring.self = ring;
    let deep: object = { token: CANARY };
    for (let i = 0; i < 50; i++) deep = { deep };
    expect(JSON.stringify(redact({ ring, deep, big: 1n, bytes: new Uint8Array(4) }))).not.toContain(CANARY);
  });

  it('the log file is 0600, whole lines of JSON, without the canary', async () => {
    const folder = await makeFolder();
    const file = join(folder, 'logs/x.log');
    const log = createLogger({ name: 'x', level: 'debug', file });
    log.debug(
      { headers: { 'X-Api-Key': CANARY }, error: new Error(`failed with Bearer ${CANARY}`) },
      `token=${CANARY}`,
    );
    log.info({}, 'plain');
    const text = readFileSync(file, 'utf8');
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['token=[redacted]', 'plain']);
    expect(text).not.toContain(CANARY.slice(0, 8));
    await rm(folder, { recursive: true });
  });

  it('a full disk does not stop the process', () => {
    const log = createLogger({ name: 'x', level: 'info', file: '/dev/full' });
    expect(() => log.info({}, 'lost')).not.toThrow();
  });

  // Bounds of seconds where a quadratic pattern takes hours.
  it.each(['x', 'a-', 'token', '://', 'kw', 'eyJ', 'sk-', 'Bearer ', '--key ', 'a:', '@', ' = '])(
    'megabytes of %j pass quickly',
    (piece) => {
      const started = performance.now();
      redactText(piece.repeat(4_000_000 / piece.length));
      expect(performance.now() - started).toBeLessThan(10_000);
    },
  );
});
