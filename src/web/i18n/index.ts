import { createSignal } from 'solid-js';
import type { Language } from '../../core/spec.ts';
import { kept } from '../browser/host.ts';
import { en, type Texts } from './en.ts';
import { zhCn } from './zh-cn.ts';

const TABLES: Record<Language, Texts> = { en, 'zh-CN': zhCn };
export const LANGUAGES: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' };

export type TextKey = keyof Texts;

const isLanguage = (name: string | undefined): name is Language => name !== undefined && name in TABLES;

function firstLanguage(): Language {
  const chosen = kept.get('language');
  if (isLanguage(chosen)) return chosen;
  const wanted = navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag)) ?? 'en';
  return wanted.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

const [lang, setLang] = createSignal<Language>(firstLanguage());
document.documentElement.lang = lang();

export { lang };

export function chooseLanguage(language: Language): void {
  kept.set('language', language);
  document.documentElement.lang = language;
  setLang(language);
}

/** A text of the page in its language, with its `{places}` filled in. */
export function t(key: TextKey, values: Record<string, string | number> = {}): string {
  return TABLES[lang()][key].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** A text whose key is made of data, such as a status; the data itself where there is none. */
export function tOr(key: string, otherwise: string): string {
  return key in TABLES.en ? t(key as TextKey) : otherwise;
}
