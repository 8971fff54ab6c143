import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_SESSION_VARIABLE } from '../../src/core/agent-mark.ts';
import type { AgentInfo } from '../../src/core/agent.ts';
import type { Message, PermissionRequest, Session, SessionEvent } from '../../src/core/session.ts';
import { type Api, createApi } from '../e2e/helpers/api.ts';
import type { FakeModel } from '../helpers/fake-llm/server.ts';
import { type Seen, seenOf } from '../helpers/processes.ts';
import type { World } from '../helpers/world.ts';
import { type Feed, openFeed } from './feed.ts';
import type { Recipe } from './recipe.ts';

/** Longest time, milliseconds, that a turn or a start may take: slow agents on busy cores. */
export const TURN_MS = 90_000;

/** What a person and a program can do with one agent: commands to act, the HTTP API to look on. */
export interface Seat {
  recipe: Recipe;
  world: World;
  model: FakeModel;
  feed: Feed;
  api: Api;
  /** Where its sessions work. */
  workspace: string;
  /** The session that most steps use. */
  sessionId: string;
  /** Runs an action from the command line. @throws with its error's code and message */
  // oxlint-disable-next-line typescript/no-explicit-any -- each step checks what it reads
  exec(actionId: string, input: object): Promise<any>;
  info(): Promise<AgentInfo>;
  session(sessionId?: string): Promise<Session>;
  /** The transcript, or one turn of it. */
  events(messageId?: string): Promise<SessionEvent[]>;
  spawn(input?: object): Promise<string>;
  /** One turn, whose permission requests are answered from the command line. */
  tell(text: string, options?: TellOptions): Promise<Told>;
  /** Processes that carry the session's mark, wherever they went. */
  processes(sessionId: string): Seen[];
}

interface TellOptions {
  answer?: 'allow' | 'deny';
  input?: object;
}

export interface Told extends Message {
  asked: PermissionRequest[];
  /** Text that streamed to live viewers, part by part. */
  deltas: string[];
}

export async function createSeat(world: World, model: FakeModel, recipe: Recipe): Promise<Seat> {
  const api = createApi(world);
  const feed = await openFeed(world.url, api.token);
  const workspace = join(world.home, 'work');
  await mkdir(workspace, { recursive: true });

  const exec: Seat['exec'] = async (actionId, input) => {
    const args = ['action', 'exec', actionId, '--input', JSON.stringify(input), '--json'];
    const { json, stderr, code } = await world.cli(args, { timeoutMs: TURN_MS + 10_000 });
    if (json?.status === 'ok') return json.output;
    const { error } = json ?? {};
    throw new Error(
      error === undefined
        ? `${actionId} ended with ${code}: ${stderr.trim() || JSON.stringify(json)}`
        : `${actionId}: ${error.code}: ${error.message}`,
    );
  };

  const seat: Seat = {
    recipe,
    world,
    model,
    feed,
    api,
    workspace,
    sessionId: '',
    exec,
    async info() {
      const { agents } = (await exec('agents.backends.list', {})) as { agents: AgentInfo[] };
      const found = agents.find(({ agentId }) => agentId === recipe.agentId);
      if (found === undefined) throw new Error(`agents.backends.list does not name ${recipe.agentId}`);
      return found;
    },
    session: async (sessionId = seat.sessionId) =>
      (await api.output('session.status.get', { sessionId })) as Session,
    async events(messageId) {
      const found: SessionEvent[] = [];
      for (let after = 0; ; after = found.at(-1)!.seq) {
        const { sessionId } = seat;
        const page = await api.output('session.transcript.get', { sessionId, after, limit: 200 });
        found.push(...(page.events as SessionEvent[]));
        if (page.events.length === 0 || found.at(-1)!.seq >= page.lastSeq) break;
      }
      return found.filter(
        (event) => messageId === undefined || ('messageId' in event && event.messageId === messageId),
      );
    },
    async spawn(input = {}) {
      const { agentId } = recipe;
      const spawned = await exec('session.spawn_new', {
        agentId,
        directory: workspace,
        permissionMode: 'default',
        ...input,
      });
      return spawned.sessionId as string;
    },
    tell: (text, options = {}) => tell(seat, text, options),
    processes: (sessionId) => marked(`${AGENT_SESSION_VARIABLE}=${sessionId}`),
  };
  return seat;
}

async function tell(seat: Seat, text: string, { answer, input }: TellOptions): Promise<Told> {
  const { sessionId } = seat;
  const from = seat.feed.entries.length;
  const asked: PermissionRequest[] = [];
  let over = false;
  const patience = { timeoutSeconds: TURN_MS / 1000 };
  const send = (more: object = {}) =>
    seat.exec('session.message.send', {
      sessionId,
      message: text,
      wait: true,
      ...patience,
      ...input,
      ...more,
    });
  // The wait ends where the agent asks; the same message sent again answers with its end.
  const toEnd = async (first: Message & { waitingFor?: object }) => {
    if (first.waitingFor === undefined) return first;
    await seat.exec('session.wait.idle', { sessionId, ...patience });
    return send({ messageId: first.messageId });
  };
  const sending = send()
    .then(toEnd)
    .finally(() => {
      over = true;
    });
  const answering = seat.feed.until(
    'the end of the turn',
    async () => {
      if (over) return true;
      const { permission } = await seat.session();
      if (permission === undefined || asked.some(({ requestId }) => requestId === permission.requestId))
        return undefined;
      asked.push(permission);
      if (answer === undefined) return undefined;
      const { code, stderr } = await seat.world.cli(['session', 'permission', 'respond', sessionId, answer]);
      if (code !== 0 && !over)
        throw new Error(`session permission respond ended with ${code}: ${stderr.trim()}`);
      return undefined;
    },
    TURN_MS,
  );
  answering.catch(() => undefined);
  const message = (await sending) as Message & { timedOut?: boolean };
  if (message.timedOut === true) throw new Error(`the turn did not end within ${TURN_MS / 1000} s`);
  const deltas = seat.feed.entries
    .slice(from)
    .flatMap((entry) =>
      entry.type === 'delta' && entry.kind === 'text' && entry.messageId === message.messageId
        ? entry.text
        : [],
    );
  return { ...message, asked, deltas };
}

function marked(mark: string): Seen[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
      } catch {
        return false;
      }
    })
    .map((pid) => seenOf(Number(pid)))
    .filter(({ startTime }) => startTime !== '');
}
