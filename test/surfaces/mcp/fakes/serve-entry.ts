import { readFile, writeFile } from 'node:fs/promises';
import { createStderrLog, runMcpProcess } from '../../../../src/app/mcp-process.ts';
import { createBackendClient } from '../../../../src/client/backend-client.ts';
import type { BackendClient } from '../../../../src/core/client.ts';
import { KaiwuError } from '../../../../src/core/errors.ts';
import type { EntryOptions } from '../helpers/options.ts';

const [, , file = ''] = process.argv;
const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

const first = await readJson<EntryOptions>(file);
let client: { key: string; made: BackendClient } | undefined;

async function connect(): Promise<BackendClient> {
  const { url, token } = await readJson<EntryOptions>(file);
  if (url === undefined || token === undefined) {
    throw new KaiwuError('not_authenticated', 'Nobody is signed in.', { hint: 'Run `kaiwu auth login`.' });
  }
  const key = `${url} ${token}`;
  if (client?.key !== key) {
    client = { key, made: createBackendClient({ url, token, version: '0.0.0', random: Math.random }) };
  }
  return client.made;
}

/** What a careless dependency might do while the process runs. */
const MISBEHAVIOURS: Record<NonNullable<EntryOptions['misbehave']>[number], () => void> = {
  console: () => console.log('noise of a dependency'),
  stdout: () => process.stdout.write('more noise\n'),
  handle: () => setInterval(() => undefined, 1000),
  rejection: () => void Promise.reject(new Error('nobody waits for this')),
  exception: () => {
    throw new Error('out of nowhere');
  },
};
// When the test says so.
process.on('SIGUSR2', () => {
  for (const way of first.misbehave ?? []) MISBEHAVIOURS[way]();
});

await runMcpProcess(createStderrLog('debug'), {
  connect,
  builtin: () => readJson(first.builtinFile),
  builtinAnswers: async () => first.builtinAnswers ?? {},
  toolsCache: {
    read: () => readJson<never>(first.cacheFile).catch(() => undefined),
    write: (seen) => writeFile(first.cacheFile, JSON.stringify(seen)),
  },
  version: '0.0.0',
  random: Math.random,
  ...(first.sessionId === undefined ? {} : { defaultSessionId: first.sessionId }),
  ...(first.machineId === undefined ? {} : { machineId: first.machineId }),
  describeDaemon: () => Promise.resolve(first.daemon),
  ...(first.timing === undefined ? {} : { timing: first.timing }),
});
