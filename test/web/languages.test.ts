import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/core/errors.ts';
import { en } from '../../src/web/i18n/en.ts';
import { zhCn } from '../../src/web/i18n/zh-cn.ts';

const source = join(import.meta.dirname, '../../src/web');
const files = readdirSync(source, { recursive: true })
  .map(String)
  .filter((file) => /\.tsx?$/.test(file) && !file.includes('i18n') && !file.includes('.generated.'));
const code = files.map((file) => readFileSync(join(source, file), 'utf8')).join('\n');

const placesOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

test('both languages have every text, with the same places', () => {
  expect(Object.keys(zhCn).sort()).toEqual(Object.keys(en).sort());
  for (const [key, text] of Object.entries(en)) {
    const other = zhCn[key as keyof typeof en];
    expect({ key, places: placesOf(other) }).toEqual({ key, places: placesOf(text) });
    expect(other).not.toBe('');
  }
});

test('no text is there for nothing', () => {
  /** Families whose keys are put together in the code. */
  const families = [...code.matchAll(/`(\w+_)\$\{/g)].map(([, prefix]) => prefix!);
  const unused = Object.keys(en).filter(
    (key) => !code.includes(`'${key}'`) && !families.some((prefix) => key.startsWith(prefix)),
  );
  expect(unused.filter((key) => !key.startsWith('resumed_') && !key.startsWith('mode_'))).toEqual([]);
});

test('no text of the page stands outside the table', () => {
  const words = [...code.matchAll(/>\s*([A-Z][a-z]+(?: [a-z]+)+)\s*</g)].map(([, text]) => text);
  expect(words).toEqual([]);
});

test('texts of error codes belong to codes that exist', () => {
  const codes = Object.keys(en).filter((key) => key.startsWith('code_'));
  expect(codes.filter((key) => !(key.slice('code_'.length) in ERRORS) && key !== 'code_x')).toEqual([]);
});
