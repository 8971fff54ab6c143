import { toVisibleText } from '../../../core/visible-text.ts';
import { BACKEND, type Server } from './servers.ts';

export interface SecretRow {
  name: string;
  value: string;
}

/** A server as its form holds it. */
export interface FormValues {
  name: string;
  way: 'command' | 'url';
  command: string;
  /** One a line, or a JSON list. */
  args: string;
  cwd: string;
  url: string;
  /** Undefined: as it is. Empty: none. */
  token: string | undefined;
  headers: SecretRow[] | undefined;
  env: SecretRow[] | undefined;
  include: string;
  exclude: string;
  where: string;
  someSessions: boolean;
  agents: string[];
  sessionIds: string[];
  exposure: 'direct' | 'discoverable';
  trusted: boolean;
  caFile: string;
  clientId: string;
  scope: string;
  timeoutSeconds: string;
  connectTimeoutSeconds: string;
  listTimeoutSeconds: string;
  startTimeoutSeconds: string;
}

export type Settings = Record<string, unknown>;

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export function toValues(server: Server | undefined): FormValues {
  const config = server?.config ?? {};
  return {
    name: server?.name ?? '',
    way: config.url === undefined ? 'command' : 'url',
    command: text(config.command),
    args: toLines(config.args),
    cwd: text(config.cwd),
    url: text(config.url),
    token: undefined,
    headers: undefined,
    env: undefined,
    include: toLines(config.include_tools),
    exclude: toLines(config.exclude_tools),
    where: server?.where ?? BACKEND,
    someSessions: config.sessions !== undefined,
    agents: config.sessions?.agents ?? [],
    sessionIds: config.sessions?.sessionIds ?? [],
    exposure: config.exposure ?? 'direct',
    trusted: config.trusted ?? false,
    caFile: text(config.caFile),
    clientId: text(config.oauth?.clientId),
    scope: text(config.oauth?.scope),
    timeoutSeconds: text(config.timeoutSeconds),
    connectTimeoutSeconds: text(config.connectTimeoutSeconds),
    listTimeoutSeconds: text(config.listTimeoutSeconds),
    startTimeoutSeconds: text(config.startTimeoutSeconds),
  };
}

/** A list one a line; as JSON where a part has a line break of its own, would be lost, or is not what it looks like. */
function toLines(parts: string[] | undefined): string {
  if (parts === undefined) return '';
  const plain = parts.join('\n');
  const json = JSON.stringify(parts);
  if (toVisibleText(plain) !== plain) return json.replaceAll(/[^\u0020-\u007e]/g, toEscape);
  return JSON.stringify(fromLines(plain)) === json ? plain : json;
}

const toEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function fromLines(lines: string): string[] {
  const asJson = lines.trim().startsWith('[') ? parseList(lines) : undefined;
  return asJson ?? lines.split('\n').filter((line) => line.trim() !== '');
}

function parseList(json: string): string[] | undefined {
  try {
    const list = JSON.parse(json) as unknown;
    return Array.isArray(list) && list.every((part) => typeof part === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** The server as the actions take it; what is not given is absent. */
export function toSettings(values: FormValues): Settings {
  const given = (value: string) => (value.trim() === '' ? undefined : value.trim());
  const list = (lines: string) => {
    const parts = fromLines(lines);
    return parts.length === 0 ? undefined : parts;
  };
  const seconds = (value: string) => (value === '' ? undefined : Number(value));
  const isProgram = values.way === 'command';
  const oauth = { clientId: given(values.clientId), scope: given(values.scope) };
  const all: Settings = {
    command: isProgram ? given(values.command) : undefined,
    args: isProgram ? list(values.args) : undefined,
    cwd: isProgram ? given(values.cwd) : undefined,
    where: isProgram ? values.where : undefined,
    env: isProgram ? toRecord(values.env) : undefined,
    url: isProgram ? undefined : given(values.url),
    token: isProgram || values.token === '' ? undefined : values.token,
    headers: isProgram ? undefined : toRecord(values.headers),
    oauth: isProgram || (oauth.clientId ?? oauth.scope) === undefined ? undefined : oauth,
    caFile: isProgram ? undefined : given(values.caFile),
    include_tools: list(values.include),
    exclude_tools: list(values.exclude),
    sessions: values.someSessions ? { agents: values.agents, sessionIds: values.sessionIds } : undefined,
    exposure: values.exposure === 'direct' ? undefined : values.exposure,
    trusted: values.trusted || undefined,
    timeoutSeconds: seconds(values.timeoutSeconds),
    connectTimeoutSeconds: isProgram ? undefined : seconds(values.connectTimeoutSeconds),
    listTimeoutSeconds: seconds(values.listTimeoutSeconds),
    startTimeoutSeconds: isProgram ? seconds(values.startTimeoutSeconds) : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function toRecord(rows: SecretRow[] | undefined): Record<string, string> | undefined {
  const named = (rows ?? []).filter(({ name }) => name.trim() !== '');
  if (named.length === 0) return undefined;
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

/** Only what the person changed: what is not shown, or shown with a part hidden, stays as it is. `null` clears. */
export function toChange(server: Server, values: FormValues): Settings {
  const before = toSettings(toValues(server));
  const after = toSettings(values);
  const cleared = (['token', 'headers', 'env'] as const).filter(
    (field) => values[field] !== undefined && after[field] === undefined,
  );
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after), ...cleared])];
  const changed = fields.filter(
    (field) =>
      cleared.some((name) => name === field) ||
      JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  return Object.fromEntries(changed.map((field) => [field, after[field] ?? null]));
}
