import { createSubagents } from '../src/backend/assistant/subagents.ts';
import { texts } from '../src/backend/assistant/texts.ts';
import { KaiwuError } from '../src/core/errors.ts';
import type { ActionPorts } from '../src/core/ports/index.ts';
import { registry } from '../src/app/registry.generated.ts';
import type { BuiltinAnswers } from '../src/surfaces/mcp/host-requests.ts';

const noBackend = () => Promise.reject(new KaiwuError('backend_unreachable', 'There is no backend here.'));

/** Ports of a Kaiwu in which nobody has set up or begun anything. */
const PORTS = {
  texts,
  subagents: createSubagents({ read: async () => undefined, change: noBackend }),
  pipeline: { read: noBackend },
} as unknown as ActionPorts;

const CALLER = {
  surface: 'mcp',
  client: 'mcp',
  tokenId: 'build',
  tokenKind: 'device',
  scope: {},
} as const;

/** What each action that lists something for hosts answers by itself. */
export async function toHostAnswers(): Promise<BuiltinAnswers> {
  const lists = registry.filter(({ answers }) => answers?.endsWith('/list'));
  const { signal } = new AbortController();
  const answered = lists.map(async ({ answers, run }) => [
    answers,
    await run({ input: {}, caller: CALLER, ports: PORTS, signal }),
  ]);
  return Object.fromEntries(await Promise.all(answered)) as BuiltinAnswers;
}
