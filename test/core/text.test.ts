import { describe, expect, it } from 'vitest';
import { fromCursor, toCursor } from '../../src/core/page.ts';
import { toClientLabel, toClientLabelAgain } from '../../src/core/normalise-client.ts';
import { misspelt, nearest } from '../../src/core/nearest.ts';
import { toShortText, toVisibleText } from '../../src/core/visible-text.ts';

describe('text of strangers', () => {
  it.each([
    ['a\u202Egnp.exe', 'a\\u202egnp.exe'],
    ['rm\u200B -rf', 'rm\\u200b -rf'],
    ['\u001b[2K\u001b[1A', '\\u001b[2K\\u001b[1A'],
    ['safe\rdanger', 'safe\\u000ddanger'],
    ['a\u{e0041}b', 'a\\u{e0041}b'],
    ['x\u200dy', 'x\\u200dy'],
    ['\ud800', '\\ud800'],
    ['\u2066hidden\u2069', '\\u2066hidden\\u2069'],
  ])('%j is made visible', (raw, visible) => {
    expect(toVisibleText(raw)).toBe(visible);
  });

  it('leaves what people write alone', () => {
    for (const text of ['— 漢 🧑‍🚀 é', 'e\u0301 中文', '❤️ 👍🏽', '<b>bold</b> [x](y)', 'line\nline\ttab']) {
      expect(toVisibleText(text)).toBe(text);
    }
    expect(toVisibleText('a\nb', { singleLine: true })).toBe('a\\nb');
  });

  it('keeps both ends of what is long', () => {
    const short = toShortText(`start${'x'.repeat(500)}end`, 100);
    expect(short.length).toBeLessThanOrEqual(110);
    expect(short).toMatch(/^start.*\(508\).*end$/);
  });
});

describe('names', () => {
  it('of clients become labels', () => {
    expect(toClientLabel('mcp', ' Claude Code!! ')).toBe('mcp:claude-code');
    expect(toClientLabel('mcp', '--')).toBe('mcp');
    expect(toClientLabel('mcp', undefined)).toBe('mcp');
    expect(toClientLabel('mcp', '  Claude   Desktop (β) ')).toBe('mcp:claude-desktop');
    expect(toClientLabel('mcp', 'MCP')).toBe('mcp:mcp');
    expect(toClientLabel('mcp', `${'a'.repeat(59)}--b`)).toBe(`mcp:${'a'.repeat(59)}`);
    expect(toClientLabelAgain('cli', 'cli')).toBe('cli');
    expect(toClientLabelAgain('mcp', 'mcp:mcp')).toBe('mcp:mcp');
    expect(toClientLabelAgain('mcp', 'Cursor')).toBe('mcp:cursor');
    expect(toClientLabel('mcp', '開物')).toBe('mcp');
  });

  it('that are nearly right are found', () => {
    expect(misspelt('titel', ['title', 'table'])).toBe('title');
    expect(misspelt('xyz', ['title'])).toBeUndefined();
    expect(nearest('session_lst', ['session.list', 'session.stop', 'audit.list'], 2)[0]).toBe('session.list');
  });
});

describe('cursors', () => {
  it('come back as they were', () => {
    const cursor = toCursor('things', ['2026-01-01T00:00:00Z', 'é漢']);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(fromCursor('things', cursor, ['string', 'string'])).toEqual(['2026-01-01T00:00:00Z', 'é漢']);
  });

  it.each([
    '',
    'x',
    '!!',
    toCursor('others', ['a', 'b']),
    toCursor('things', ['a']),
    toCursor('things', [1, 'b']),
  ])('%j is refused, never page one', (cursor) => {
    expect(() => fromCursor('things', cursor, ['string', 'string'])).toThrow(
      /cursor is not one that this list gave/,
    );
  });
});
