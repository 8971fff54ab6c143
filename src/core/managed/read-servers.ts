import { fromJsonText } from '../input.ts';
import { nearest } from '../nearest.ts';
import { redactText } from '../redact.ts';
import { toShortText, toVisibleText } from '../visible-text.ts';
import type { ServerConfig } from './config.ts';
import { ASKING_FIELDS, HOST_FIELDS, PASSED_OVER, PLACES, TRANSPORTS } from './host-fields.ts';
import { SERVER_LIMITS } from './limits.ts';
import { readJsonc } from './read-jsonc.ts';
import { makeUniqueName } from './unique-name.ts';

/** A configuration text, read. */
export interface ParsedServers {
  /** In the order of the text, with unique names. Holds secrets. */
  servers: (ServerConfig & { name: string })[];
  /** What was skipped or is odd, one sentence each; the servers above are fine all the same. */
  warnings: string[];
  /** Entries that are wrong and not among the servers, each named by its number and what is wrong with it. */
  errors: string[];
}

type Fields = Record<string, unknown>;

/** What a server's settings are, for whoever reads them out of a text. */
export interface SettingsShape {
  /** Names of all of them. */
  fields: readonly string[];
  /** @returns the settings, or what is wrong with them in a few words each */
  judge(fields: Fields): ServerConfig | string[];
}

/** One server as it stands in the text. */
interface Entry {
  value: unknown;
  /** Key in a map. */
  key?: string;
}

/**
 * Reads servers from a list of them, one alone, or a map as the hosts' own files have it (`mcpServers`, `servers`, `mcp`). Comments
 * and a byte-order mark are taken; entries may be JSON text of objects; `enabled: false` beside the map means none.
 * @param taken names that are in use already
 * @throws invalid_input where the text is no such JSON, with line and column; payload_too_large over 4 MiB
 */
export function readServers(text: string, taken: Iterable<string>, shape: SettingsShape): ParsedServers {
  const parsed: ParsedServers = { servers: [], warnings: [], errors: [] };
  const entries = toEntries(readJsonc(text), shape);
  const names = new Set(taken);
  for (const [i, { value, key }] of entries.slice(0, SERVER_LIMITS.servers).entries()) {
    const fields = isRecord(value) ? value : fromJsonText(value, 'object');
    const wanted =
      key ?? (isRecord(fields) && typeof fields['name'] === 'string' ? fields['name'] : undefined);
    const notes = createNotes(parsed, `Entry ${i + 1}${wanted === undefined ? '' : ` (${show(wanted)})`}`);
    const config = isRecord(fields)
      ? toConfig(key === undefined ? fields : { ...fields, name: undefined }, shape, notes)
      : notes.error(`must be an object${received(value)}`);
    if (config === undefined) continue;
    const name = makeUniqueName(wanted, names);
    if (wanted !== undefined && name !== wanted) notes.warn(`is called ${name} here`);
    names.add(name);
    parsed.servers.push({ ...config, name });
  }
  if (entries.length > SERVER_LIMITS.servers) {
    parsed.errors.push(`There are ${entries.length} entries; at most ${SERVER_LIMITS.servers} are taken.`);
  }
  return parsed;
}

function toEntries(root: unknown, { fields }: SettingsShape): Entry[] {
  const value = unfold(root);
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) return Array.isArray(value) ? value.map(toEntry) : [{ value }];
  for (const place of PLACES) {
    const found = findIn(value, place);
    if (found !== undefined) return found;
  }
  const names = Object.keys(value).filter((name) => name !== '$schema');
  const isKnown = (name: string) => fields.includes(name) || HOST_FIELDS.has(name);
  if (names.every((name) => name === 'enabled')) return [];
  const isServer = names.some((name) => isKnown(name) && !isRecord(value[name])) || names.some(isWay);
  return isServer || !names.every((name) => isRecord(unfold(value[name]))) ? [{ value }] : toMembers(value);
}

/** The entries at a place, none where one of what it lies in is switched off; undefined where nothing is there. */
function findIn(root: Fields, place: readonly string[]): Entry[] | undefined {
  let at: unknown = root;
  let enabled = true;
  for (const name of place) {
    if (!isRecord(at)) return undefined;
    if (at['enabled'] === false) enabled = false;
    at = unfold(at[name]);
  }
  if (!isRecord(at) && !Array.isArray(at)) return undefined;
  return enabled ? toMembers(at) : [];
}

const isWay = (name: string): boolean => name === 'url' || name === 'command';
const toEntry = (value: unknown): Entry => ({ value });
const toMembers = (value: object): Entry[] =>
  Array.isArray(value)
    ? value.map(toEntry)
    : Object.entries(value)
        .filter(([key, member]) => key !== '$schema' && !(key === 'enabled' && typeof member === 'boolean'))
        .map(([key, member]) => ({ key, value: member as unknown }));

/** JSON text inside of JSON, as settings that only know texts hold it. */
const unfold = (value: unknown): unknown => fromJsonText(fromJsonText(value, 'object'), 'array');

interface Notes {
  warn(text: string): void;
  error(text: string): undefined;
}

const createNotes = ({ warnings, errors }: ParsedServers, entry: string): Notes => ({
  warn: (text) => void warnings.push(`${entry}: ${text}.`),
  error: (text) => void errors.push(`${entry}: ${text}.`),
});

function toConfig(given: Fields, shape: SettingsShape, notes: Notes): ServerConfig | undefined {
  const fields = toOwnFields(given, shape, notes);
  const { url, command } = fields;
  if (url !== undefined && command !== undefined) {
    return notes.error('has both url and command; a server has one of them');
  }
  if (url === undefined && command === undefined) {
    notes.warn('has neither url nor command and is skipped');
    return undefined;
  }
  const config = shape.judge(fields);
  if (Array.isArray(config)) return notes.error(config.join('; '));
  if (typeof url === 'string' && !isWebAddress(url)) {
    return notes.error(`url must be an address with http:// or https://${received(url)}`);
  }
  if (JSON.stringify(fields).includes('${')) {
    notes.warn('has ${...} in a value, which is not filled in');
  }
  return config;
}

/** The fields of ours that an entry means, whatever host's file it is from. */
function toOwnFields(given: Fields, shape: SettingsShape, notes: Notes): Fields {
  const fields: Fields = {};
  const way = given['type'] ?? given['transport'];
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || name === 'type' || name === 'transport') continue;
    const host = HOST_FIELDS.get(name);
    if (shape.fields.includes(name)) fields[name] = value;
    else if (host !== undefined && given[host.to] == null) fields[host.to] = host.as?.(value) ?? value;
    else if (host !== undefined) notes.warn(`${name} is passed over, since ${host.to} is there`);
    else if (ASKING_FIELDS.has(name)) notes.warn(`${name} is passed over: the policy says what is asked`);
    else if (!PASSED_OVER.has(name))
      notes.warn(
        `${show(name)} is not known and passed over; nearest: ${nearest(name, shape.fields, 1).join()}`,
      );
  }
  if (Array.isArray(fields['command'])) {
    const [command, ...args] = fields['command'] as unknown[];
    Object.assign(fields, {
      command,
      args: [...args, ...(Array.isArray(fields['args']) ? fields['args'] : [])],
    });
  }
  for (const name of ['env', 'headers']) if (isRecord(fields[name])) fields[name] = toTexts(fields[name]);
  if (fields['token'] === '') delete fields['token'];
  if (isRecord(fields['oauth']) && Array.isArray(fields['oauth']['scopes'])) {
    fields['oauth'] = { ...fields['oauth'], scope: fields['oauth']['scopes'].join(' ') };
  } else if (typeof fields['oauth'] === 'boolean') delete fields['oauth'];
  if (way !== undefined) judgeWay(way, fields, notes);
  return fields;
}

/** What the entry says of the way to its server is only looked at: the fields themselves say it too. */
function judgeWay(way: unknown, fields: Fields, notes: Notes): void {
  const needed = typeof way === 'string' ? TRANSPORTS.get(way) : undefined;
  if (needed === undefined)
    notes.warn(`its type is not known${received(way)}; known: ${[...TRANSPORTS.keys()].join(', ')}`);
  else if (fields[needed] === undefined) notes.warn(`its type is ${String(way)}, and it has no ${needed}`);
}

/** Numbers and words for yes and no are taken as their texts: a variable has no other form. */
const toTexts = (values: Fields): Fields =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  );

function isWebAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text of the configuration, short and with what is invisible shown. */
export const show = (text: string): string => toShortText(toVisibleText(text, { singleLine: true }), 80);

/** What was found, without what looks like a credential. */
export const received = (value: unknown): string =>
  value === undefined ? '' : ` (received ${show(redactText(JSON.stringify(value) ?? ''))})`;
