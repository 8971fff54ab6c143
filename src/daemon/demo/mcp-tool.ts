import type { McpServer } from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';

type StdioServer = Extract<McpServer, { command: string }>;

/** Calls a tool of the first server that has it. Answers the tool's JSON, or one that says what went wrong. */
export async function callMcpTool(
  servers: McpServer[],
  name: string,
  json: string,
  signal: AbortSignal,
): Promise<string> {
  let input: Record<string, unknown>;
  try {
    input = json.trim() === '' ? {} : (JSON.parse(json) as Record<string, unknown>);
  } catch {
    return toError(`the arguments of ${name} are not JSON`);
  }
  const problems: string[] = [];
  for (const server of servers.filter((one): one is StdioServer => 'command' in one)) {
    try {
      const reply = await callOn(server, name, input, signal);
      if (reply !== undefined) return reply;
    } catch (error) {
      problems.push(`${server.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return toError(`no MCP server of this session has the tool ${name}`, problems);
}

async function callOn(
  server: StdioServer,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const given = Object.fromEntries(server.env.map((variable) => [variable.name, variable.value]));
  const transport = new StdioClientTransport({
    command: server.command,
    args: server.args,
    env: { ...getDefaultEnvironment(), ...given },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'kaiwu-demo', version: '1.0.0' });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    if (!tools.some((tool) => tool.name === name)) return undefined;
    const result = await client.callTool({ name, arguments: input }, { signal });
    const text = result.content.find((item) => item.type === 'text');
    return result.structuredContent === undefined
      ? (text?.text ?? JSON.stringify(result))
      : JSON.stringify(result.structuredContent);
  } finally {
    await client.close();
  }
}

const toError = (message: string, problems: string[] = []): string =>
  JSON.stringify({ error: message, ...(problems.length === 0 ? {} : { problems }) });
