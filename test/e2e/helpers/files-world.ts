import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Envelope } from '../../../src/core/call.ts';
import { makeFolder } from '../../helpers/kaiwu.ts';
import { startWorld, type World } from '../../helpers/world.ts';

type Fields = Record<string, unknown>;

/** A whole Kaiwu with one session of the demo agent, whose workspace lies apart from all state. */
export interface FilesWorld extends World {
  workspace: string;
  sessionId: string;
  /** Runs an action from the command line. */
  act(actionId: string, input: Fields, ...more: string[]): Promise<Envelope>;
  /** The output of an action that must succeed. */
  ok(actionId: string, input: Fields, ...more: string[]): Promise<Fields>;
  /** What the agent's tool answers. */
  tool(input: Fields): Promise<Fields>;
  send(input: Fields, ...more: string[]): Promise<Envelope>;
}

export async function startFilesWorld(env: Record<string, string> = {}): Promise<FilesWorld> {
  const workspace = await makeFolder('kaiwu-workspace-');
  const world = await startWorld({ env });
  await mkdir(join(workspace, 'sub'));
  const act = async (actionId: string, input: Fields, ...more: string[]): Promise<Envelope> => {
    const line = ['action', 'exec', actionId, '--input', JSON.stringify(input), '--json', ...more];
    const { json, stderr } = await world.cli(line, { timeoutMs: 110_000 });
    if (json === undefined) throw new Error(`${actionId}: ${stderr}`);
    return json as Envelope;
  };
  const ok = async (...call: Parameters<typeof act>): Promise<Fields> => {
    const envelope = await act(...call);
    if (envelope.status !== 'ok') throw new Error(JSON.stringify(envelope));
    return envelope.output;
  };
  const spawned = await ok('session.spawn_new', { agentId: 'demo', directory: workspace });
  const sessionId = String(spawned.sessionId);
  return {
    ...world,
    workspace,
    sessionId,
    act,
    ok,
    async tool(input) {
      const message = `tool send_file_to_user ${JSON.stringify(input)}`;
      const sent = await ok('session.message.send', { sessionId, message, wait: true, timeoutSeconds: 60 });
      return JSON.parse(String(sent.reply)) as Fields;
    },
    send: (input, ...more) => act('file.send', { sessionId, ...input }, ...more),
  };
}

/** Code of an error, or else the status. */
export const codeOf = (envelope: Envelope): string =>
  envelope.status === 'error' ? envelope.error.code : envelope.status;
