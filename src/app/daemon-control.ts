import { request } from 'node:http';
import type { ManagedStatus } from '../daemon/managed/managed.ts';
import { readOwner } from '../local/file-lock.ts';
import type { DaemonState, ProcessReport } from '../local/process-state.ts';
import { daemonStateSchema, inspectProcess } from '../local/process-state.ts';
import type { App } from './app.ts';
import type { Target } from './connection.ts';

/** A daemon that is busy still answers within this, milliseconds. */
const ANSWER_MS = 3000;

/**
 * What is known of the daemon of a profile. It is `running` only if it answers on its control port, and `silent` only if it
 * took the daemon's lock too: a left-over file may name the very pid and start of a process that is none of ours.
 */
export async function inspectDaemon(app: App, target: Target): Promise<ProcessReport<DaemonState>> {
  const { daemonState, daemonLock } = target.paths;
  const report = await inspectProcess(
    daemonState,
    daemonStateSchema,
    app.processes,
    async (state) => (await askStatus(state))?.pid === state.pid,
  );
  if (report.is !== 'silent') return report;
  const owner = readOwner(daemonLock);
  const ours = owner?.pid === report.state.pid && owner.startTime === report.state.startTime;
  return ours ? report : { ...report, is: 'stale' };
}

/** What a daemon says of itself on its control port; undefined when it does not, or somebody else listens there. */
function askStatus({ port, token }: DaemonState): Promise<Record<string, unknown> | undefined> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/status', agent: false, timeout: ANSWER_MS };
    const asked = request({ ...options, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        body += part;
        if (body.length > 1024 * 1024) asked.destroy();
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? parse(body) : undefined));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('close', () => resolve(undefined));
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}

function parse(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export interface DaemonSummary {
  state: 'running' | 'stopped' | 'stale' | 'not answering';
  pid?: number;
  version?: string;
  url?: string;
  note?: string;
  mcpServers?: ManagedStatus;
}

/** The daemon of a profile in words, with what does not fit: another version, another backend. */
export async function daemonSummary(app: App, target: Target): Promise<DaemonSummary> {
  const report = await inspectDaemon(app, target);
  if (report.is === 'absent')
    return { state: 'stopped', note: `Start it with \`${app.channel} daemon start\`.` };
  const { pid, version, url } = report.state;
  if (report.is === 'stale') {
    const note = `${target.paths.daemonState} is left over from process ${pid}, which has ended.`;
    return { state: 'stale', note };
  }
  const managed = (await askStatus(report.state))?.managed as ManagedStatus | undefined;
  const notes = [mismatch(app, target, report.state), managed?.own.problem];
  const note = notes.filter((part) => part !== undefined).join(' ') || undefined;
  return {
    state: report.is === 'running' ? 'running' : 'not answering',
    pid,
    version,
    url,
    ...(note === undefined ? {} : { note }),
    ...(managed === undefined ? {} : { mcpServers: managed }),
  };
}

/** Why a daemon should be restarted, if it should: it goes on as it was started until then. */
export function mismatch(app: App, target: Target, { version, url }: DaemonState): string | undefined {
  const restart = `\`${app.channel} daemon restart\` changes that and stops its running sessions.`;
  if (url !== target.url) return `The daemon is still on ${url}, not on ${target.url}; ${restart}`;
  if (version !== app.version)
    return `The daemon is version ${version}, this command is ${app.version}; ${restart}`;
  return undefined;
}
