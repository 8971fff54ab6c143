import { HIDDEN, redact, redactText } from './redact.ts';
import type { Session } from './session.ts';
import type { ActionManifest, Language } from './spec.ts';
import { toSpeakableText } from './visible-text.ts';

/** Longer texts are said by their beginning and their length, characters. */
const MAX_TEXT = 100;
/** Items of a list, and fields of an object, that are said; the rest is counted. */
const MAX_ITEMS = 3;
/** Fields that are said with their values; the names of the rest are. */
const MAX_FIELDS = 8;
/** Deeper values are counted only. */
const MAX_DEPTH = 2;

const ID =
  /^(?:(?:sess|msg|mach|dev|tok|grant|call|run)_[A-Za-z0-9]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

interface Phrases {
  sentence(title: string, fields: string[]): string;
  field(name: string, value: string): string;
  quoted(text: string): string;
  long(beginning: string, length: number): string;
  id(ending: string): string;
  session(title: string, id: string): string;
  more(count: number): string;
  moreFields(names: string[]): string;
  list(items: string[]): string;
  yes: string;
  no: string;
  cleared: string;
  secret: string;
  empty: string;
  sessionName: string;
}

const PHRASES: Record<Language, Phrases> = {
  en: {
    sentence: (title, fields) =>
      `${title}${fields.length === 0 ? '' : `: ${fields.join('; ')}`}. Shall I do that?`,
    field: (name, value) => `${name} ${value}`,
    quoted: (text) => `"${text}"`,
    long: (beginning, length) => `"${beginning}" and so on, ${length} characters in all`,
    id: (ending) => `ending in ${ending}`,
    session: (title, id) => `"${title}", ${id}`,
    more: (count) => `${count} more`,
    moreFields: (names) => `and also ${names.join(', ')}`,
    list: (items) => items.join(', '),
    yes: 'yes',
    no: 'no',
    cleared: 'cleared',
    secret: 'a secret',
    empty: 'empty',
    sessionName: 'session',
  },
  'zh-CN': {
    sentence: (title, fields) => `${title}${fields.length === 0 ? '' : `：${fields.join('；')}`}。要执行吗？`,
    field: (name, value) => `${name} ${value}`,
    quoted: (text) => `“${text}”`,
    long: (beginning, length) => `“${beginning}”等，共 ${length} 个字符`,
    id: (ending) => `尾号 ${ending}`,
    session: (title, id) => `“${title}”，${id}`,
    more: (count) => `另有 ${count} 项`,
    moreFields: (names) => `还有 ${names.join('、')}`,
    list: (items) => items.join('、'),
    yes: '是',
    no: '否',
    cleared: '清除',
    secret: '保密',
    empty: '空',
    sessionName: '会话',
  },
};

/** The language of a BCP 47 tag; English where the product does not speak it. */
export const toLanguage = (tag: string | undefined): Language => (/^zh\b/i.test(tag ?? '') ? 'zh-CN' : 'en');

/**
 * A call in one or two short sentences, to be said to a person before it runs: the action and what it would run with. Fields that
 * have their default are left out, ids are shortened, long texts said by beginning and length; no secret is said.
 */
export function toWords(
  { title, inputSchema, secrets, session: place }: ActionManifest,
  input: Record<string, unknown>,
  session: Pick<Session, 'title' | 'directory'> | undefined,
  language: Language,
): string {
  const phrases = PHRASES[language];
  const fields = inputSchema.properties ?? {};
  const given = Object.entries(redact(input, secrets)).filter(
    ([name, value]) => value !== undefined && JSON.stringify(fields[name]?.default) !== JSON.stringify(value),
  );
  const said = given.slice(0, MAX_FIELDS).map(([name, value]) => {
    if (place !== 'none' && name === place.field) {
      const id = toPhrase(value, phrases);
      const called = toSpeakable(redactText(session?.title ?? toFolderName(session)).slice(0, MAX_TEXT));
      return phrases.field(phrases.sessionName, called === '' ? id : phrases.session(called, id));
    }
    return phrases.field(toFieldName(name), toPhrase(value, phrases));
  });
  const rest = given.slice(MAX_FIELDS).map(([name]) => toFieldName(name));
  return phrases.sentence(title[language], rest.length === 0 ? said : [...said, phrases.moreFields(rest)]);
}

function toPhrase(value: unknown, phrases: Phrases, depth = 0): string {
  if (value === null) return phrases.cleared;
  if (typeof value === 'boolean') return value ? phrases.yes : phrases.no;
  if (typeof value === 'string') return toTextPhrase(value, phrases);
  if (typeof value !== 'object') return toSpeakable(JSON.stringify(value) ?? '');
  const items: [string, unknown][] = Array.isArray(value)
    ? value.map((item: unknown) => ['', item])
    : Object.entries(value);
  if (items.length === 0) return phrases.empty;
  const said = (depth < MAX_DEPTH ? items.slice(0, MAX_ITEMS) : []).map(([name, item]) => {
    const phrase = toPhrase(item, phrases, depth + 1);
    return name === '' ? phrase : phrases.field(toFieldName(name), phrase);
  });
  const left = items.length - said.length;
  return phrases.list(left === 0 ? said : [...said, phrases.more(left)]);
}

function toTextPhrase(text: string, phrases: Phrases): string {
  if (text === HIDDEN) return phrases.secret;
  if (ID.test(text)) return phrases.id(text.slice(-4).split('').join(' '));
  // Counted as a reader would, and as it was sent: what is left out of the words still counts.
  const characters = [...text];
  if (characters.length <= MAX_TEXT) return phrases.quoted(toSpeakable(text));
  return phrases.long(toSpeakable(characters.slice(0, MAX_TEXT * 0.8).join('')), characters.length);
}

const toFolderName = (session: Pick<Session, 'directory'> | undefined): string =>
  session?.directory.split(/[\\/]/).at(-1) ?? '';

/** Without quotation marks of its own: where a text ends must be heard. */
const toSpeakable = (text: string): string => toSpeakableText(text).replaceAll(/["“”]/g, "'");

/** `permissionMode` is said "permission mode". A name of the caller's own is as strange as any text. */
const toFieldName = (name: string): string =>
  toSpeakable(name.slice(0, 60))
    .replaceAll(/[_.-]+/g, ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
