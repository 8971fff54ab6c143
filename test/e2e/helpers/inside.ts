import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startWorld, type World } from '../../helpers/world.ts';
import { type Api, createApi } from './api.ts';

/** A world and its sessions, seen from inside them. */
export interface Inside {
  world: World;
  api: Api;
  /** Workspace of the sessions. */
  directory: string;
  spawn(agentId?: string): Promise<string>;
  /** Sends a message and answers the reply of its turn. */
  say(sessionId: string, message: string): Promise<string>;
  /** Has the demo agent of a session call a tool of its own MCP servers. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what the tests are about
  tool(sessionId: string, name: string, input: unknown): Promise<any>;
}

export async function openInside(env: Record<string, string> = {}): Promise<Inside> {
  const world = await startWorld({ env });
  const api = createApi(world);
  const directory = join(world.home, 'project');
  mkdirSync(directory);
  const inside: Inside = {
    world,
    api,
    directory,
    spawn: async (agentId = 'demo') =>
      (await api.output('session.spawn_new', { agentId, directory })).sessionId as string,
    async say(sessionId, message) {
      const wanted = { sessionId, message, wait: true, timeoutSeconds: 50 };
      const turn = await api.output('session.message.send', wanted);
      if (turn.status !== 'completed') throw new Error(`${message}: ${JSON.stringify(turn)}`);
      return turn.reply as string;
    },
    tool: async (sessionId, name, input) =>
      JSON.parse(await inside.say(sessionId, `tool ${name} ${JSON.stringify(input)}`)),
  };
  return inside;
}
