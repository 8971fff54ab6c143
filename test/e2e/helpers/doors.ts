import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { registry } from '../../../src/app/registry.generated.ts';
import { createCatalog } from '../../../src/core/catalog.ts';
import type { Envelope } from '../../../src/core/call.ts';
import { KAIWU } from '../../helpers/kaiwu.ts';
import type { World } from '../../helpers/world.ts';
import type { Api } from './api.ts';

/** One way to call an action, through its real entry. */
export type Door = (actionId: string, input: unknown) => Promise<Envelope>;

export async function connectHost(world: World, args: string[] = [], name = 'doors'): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [KAIWU, 'mcp', 'serve', ...args],
    env: world.env,
    stderr: 'ignore',
  });
  await client.connect(transport);
  return client;
}

/** The envelope that a tool result stands for. Both of its parts must say the same. */
async function callTool(host: Client, name: string, input: unknown): Promise<Envelope> {
  const result = await host.callTool({ name, arguments: input as Record<string, unknown> });
  const structured = result.structuredContent as Record<string, unknown>;
  const [text] = result.content as { text: string }[];
  if (JSON.stringify(JSON.parse(text!.text)) !== JSON.stringify(structured)) {
    throw new Error(`text and structured content differ: ${text!.text}`);
  }
  if (result.isError === true) return { status: 'error', ...structured } as unknown as Envelope;
  return structured['kind'] === 'approval_request_created' && structured['decideWith'] !== undefined
    ? ({ status: 'approval_required', approval: structured } as unknown as Envelope)
    : { status: 'ok', output: structured };
}

const manifests = new Map(createCatalog(registry).manifests.map((manifest) => [manifest.id, manifest]));

/** What a person would type: the words of the command, what goes by position, then flags. */
function toArgv(actionId: string, input: Record<string, unknown>): string[] {
  const kebab = (name: string) =>
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const byPosition = (manifests.get(actionId)?.positionals ?? []).filter((name) => input[name] !== undefined);
  // A program and its arguments stand behind `--` there, which is the command's own; here it gets them as one object.
  if (input['args'] !== undefined) {
    return [...kebab(actionId).split('.'), `--input=${JSON.stringify(input)}`];
  }
  const flags = Object.entries(input).filter(([name]) => !byPosition.includes(name));
  return [
    ...kebab(actionId).split('.'),
    ...byPosition.map((name) => text(input[name])),
    ...flags.flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item: unknown) => `--${kebab(name)}=${text(item)}`),
    ),
  ];
}

/** Doors of the surfaces, by surface and name. */
export function createDoors(
  world: World,
  api: Api,
  host: Client,
): Record<'mcp' | 'cli', Record<string, Door>> {
  return {
    mcp: {
      tool: (actionId, input) => callTool(host, actionId.replaceAll('.', '_'), input),
      'dotted id': (actionId, input) => callTool(host, actionId, input),
      action_execute: (actionId, input) => callTool(host, 'action_execute', { actionId, input }),
      'action.execute over HTTP': (actionId, input) => api.call('action.execute', { actionId, input }, 'mcp'),
    },
    cli: {
      'action exec': async (actionId, input) => {
        const { json, stderr } = await world.cli([
          'action',
          'exec',
          actionId,
          '--input',
          JSON.stringify(input),
          '--json',
        ]);
        if (json === undefined) throw new Error(`no envelope: ${stderr}`);
        return json as Envelope;
      },
      'own command': async (actionId, input) => {
        const { json, stderr } = await world.cli([
          ...toArgv(actionId, input as Record<string, unknown>),
          '--json',
        ]);
        if (json === undefined) throw new Error(`no envelope: ${stderr}`);
        return json as Envelope;
      },
      HTTP: (actionId, input) => api.call(actionId, input),
    },
  };
}
