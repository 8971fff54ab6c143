import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';

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
  for (const server of servers) {
    try {
      const reply = await callOn(server, name, input, signal);
      if (reply !== undefined) return reply;
    } catch (error) {
      problems.push(`${server.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return toError(`no MCP server of this session has the tool ${name}`, problems);
}

function toTransport(server: McpServer) {
  if ('command' in server) {
    return new StdioClientTransport({
      command: server.command,
      args: server.args,
      env: { ...getDefaultEnvironment(), ...toRecord(server.env) },
      stderr: 'inherit',
    });
  }
  if ('url' in server && server.type === 'http') {
    const requestInit = { headers: toRecord(server.headers) };
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
  }
  throw new Error(`it is spoken to over ${'type' in server ? server.type : 'an unknown way'}`);
}

const toRecord = (pairs: { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));

async function callOn(
  server: McpServer,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const transport = toTransport(server);
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
