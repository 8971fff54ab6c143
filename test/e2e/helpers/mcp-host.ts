import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import { KAIWU } from '../../helpers/kaiwu.ts';
import type { World } from '../../helpers/world.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- results are checked field by field
export type Output = Record<string, any>;

/** How the host opens: the handshake, or the stateless generation. */
export type Generation = 'legacy' | { pin: string };

/** Both generations, for tests that must hold in each. */
export const GENERATIONS: [string, Generation][] = [
  ['the handshake', 'legacy'],
  ['the stateless generation', { pin: '2026-07-28' }],
];

/** The official client over stdio. */
export interface McpHost {
  client: Client;
  /** The structured result of a call that must succeed. */
  ok(name: string, args?: Record<string, unknown>): Promise<Output>;
  /** The error of a call that must fail. */
  error(name: string, args?: Record<string, unknown>): Promise<Output>;
  names(): Promise<string[]>;
  /** Settles at the next word of a changed list. */
  listChanged(): Promise<void>;
}

export async function connectMcp(
  env: Record<string, string>,
  options: { args?: string[]; generation?: Generation; onEnd(client: { close(): Promise<void> }): void },
): Promise<McpHost> {
  let heard: () => void = () => undefined;
  const client = new Client(
    { name: 'Main Job', version: '1.0.0' },
    {
      versionNegotiation: { mode: options.generation ?? 'legacy' },
      listChanged: { tools: { onChanged: () => heard() } },
    },
  );
  const args = [KAIWU, 'mcp', 'serve', ...(options.args ?? [])];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  options.onEnd(client);
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: input });
    const [text] = result.content as { type: string; text: string }[];
    expect(JSON.parse(text?.text ?? '')).toEqual(result.structuredContent);
    return { name, isError: result.isError, structuredContent: result.structuredContent as Output };
  };
  return {
    client,
    async ok(name, input) {
      const result = await call(name, input);
      expect(result).toMatchObject({ isError: undefined });
      return result.structuredContent;
    },
    async error(name, input) {
      const result = await call(name, input);
      expect(result).toMatchObject({ isError: true });
      return result.structuredContent['error'];
    },
    async names() {
      const { tools } = await client.listTools();
      return tools.map(({ name }) => name);
    },
    listChanged: () =>
      new Promise((resolve) => {
        heard = resolve;
      }),
  };
}

/** Everything written before the process could read any of it, then the end of input: the answers by id. */
export async function pipeMcp(
  world: World,
  requests: { id: string | number; method: string; params?: unknown }[],
): Promise<Map<string | number, Output>> {
  const clientInfo = { name: 'pipe', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const messages = [
    { id: 'init', method: 'initialize', params },
    { method: 'notifications/initialized' },
    ...requests,
  ];
  const input = messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })).join('\n');
  const { code, stdout } = await world.cli(['mcp', 'serve'], { input });
  expect(code).toBe(0);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Output);
  return new Map(answers.map((answer) => [answer['id'], answer]));
}
