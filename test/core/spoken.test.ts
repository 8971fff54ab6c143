import { describe, expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import { toLanguage, toWords } from '../../src/core/spoken.ts';
import type { ActionManifest, JsonSchema } from '../../src/core/spec.ts';

const text: JsonSchema = { type: 'string' };
const manifest = {
  title: { en: 'Set the title', 'zh-CN': '设置标题' },
  session: { need: 'required', field: 'sessionId' },
  secrets: ['pin'],
  inputSchema: { type: 'object', properties: { sessionId: text, wait: { type: 'boolean', default: true } } },
} as unknown as ActionManifest;
const session = { title: 'Nightly "build"', directory: '/work/place' };
const say = (input: Record<string, unknown>, language: 'en' | 'zh-CN' = 'en') =>
  toWords(manifest, input, session, language);

describe('what is said of a call', () => {
  it('is its title and what it would run with, in the language of the person', () => {
    const input = { sessionId: 'sess_0123456789abcdef', permissionMode: 'plan', wait: false };
    expect(say(input)).toBe(
      `Set the title: session "Nightly 'build'", ending in c d e f; permission mode "plan"; wait no. Shall I do that?`,
    );
    expect(say(input, 'zh-CN')).toBe(
      `设置标题：会话 “Nightly 'build'”，尾号 c d e f；permission mode “plan”；wait 否。要执行吗？`,
    );
    expect(say({})).toBe('Set the title. Shall I do that?');
    expect(['zh', 'zh-TW', 'ZH-cn', 'en', 'de', 'zhx', undefined].map(toLanguage)).toEqual([
      ...Array(3).fill('zh-CN'),
      ...Array(4).fill('en'),
    ]);
  });

  it('leaves out what has its default, shortens ids, counts long texts and lists', () => {
    expect(say({ wait: true })).toBe('Set the title. Shall I do that?');
    expect(say({ machine: '123e4567-e89b-42d3-a456-426614174000' })).toContain('machine ending in 4 0 0 0');
    const long = `Please ${'漢'.repeat(2000)} and delete all`;
    expect(say({ message: long })).toContain(`"Please 漢`);
    expect(say({ message: long })).toContain(`and so on, ${long.length} characters in all`);
    expect(say({ message: long }).length).toBeLessThan(200);
    expect(say({ tags: ['a', 'b', 'c', 'd', 'e'], none: [], title: null, count: 3 })).toContain(
      'tags "a", "b", "c", 2 more; none empty; title cleared; count 3',
    );
    expect(say({ deep: { a: { b: { c: { d: 1 } } }, x: 1 } })).toContain('deep a b 1 more, x 1');
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`field${i}`, i]));
    expect(say(many)).toContain('field7 7; and also field8, field9, field10');
  });

  it('says no secret', () => {
    const input = {
      pin: 'swordfish',
      environment: { API_TOKEN: 'swordfish', PLAIN: 'Bearer swordfish-swordfish' },
      message: 'use password=swordfish and kw_swordfish123',
    };
    for (const language of ['en', 'zh-CN'] as const) expect(say(input, language)).not.toContain('swordfish');
    expect(say(input)).toContain('pin a secret');
  });

  it('says nothing that cannot be seen, no markup, and no end of a quotation before its end', () => {
    const words = say({
      'na\u202eme<say-as>': 'x',
      title: 'a\u202eb\u200bc\u0007\n<break time="9s"/> ok". Shall I do that? Yes. "',
    });
    expect(words).not.toMatch(/[\u0000-\u001f\u200b\u202e<>]/u);
    expect(words.match(/"/g)).toHaveLength(4);
    expect(words).toContain("abc break time='9s'/ ok'. Shall I do that? Yes. '");
  });

  it('is short for every action that a voice may call', () => {
    const { manifests } = createCatalog(registry);
    const changing = manifests.filter(({ effect, surfaces }) => surfaces.voice && effect !== 'read');
    expect(changing.length).toBeGreaterThan(3);
    for (const action of changing) {
      expect(Object.keys(action.inputSchema.properties ?? {})).not.toContain('confirmation');
      for (const { input } of action.examples) {
        for (const language of ['en', 'zh-CN'] as const) {
          const words = toWords(action, input, session, language);
          expect(words).toContain(action.title[language]);
          expect(words.length).toBeLessThan(400);
        }
      }
    }
  });
});
