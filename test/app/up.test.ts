import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createProcessTable } from '../../src/local/process-table.ts';
import { bareEnv, KAIWU, makeFolder, runKaiwu } from '../helpers/kaiwu.ts';
import { descendantsOf, seenOf, waitGone } from '../helpers/processes.ts';
import { makeHome } from '../helpers/signed-in.ts';
import { startWorld, type World } from '../helpers/world.ts';

const worlds: World[] = [];
async function world(...options: Parameters<typeof startWorld>): Promise<World> {
  const made = await startWorld(...options);
  worlds.push(made);
  return made;
}
afterEach(async () => {
  for (const made of worlds.splice(0)) await made.stop();
});

const stateOf = async (path: string): Promise<{ pid: number; startTime: string; url: string }> =>
  JSON.parse(await readFile(path, 'utf8'));

/** Waits for what another process is about to write. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + 40_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const seen = await look().catch(() => undefined);
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new Error('it did not happen');
  }
}

describe('kaiwu up', () => {
  it('serves, signs in, and says what to do next', async () => {
    const { output, home, url, cli } = await world();
    const { stdout } = output();
    expect(stdout.split('\n')[0]).toBe(`ready ${url}`);
    const config = JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1));
    expect(config.mcpServers.kaiwu.args.slice(-2)).toEqual(['mcp', 'serve']);
    expect(config.mcpServers.kaiwu.env).toEqual({ KAIWU_HOME: home });
    const status = (await cli(['auth', 'status', '--json'])).json.output;
    expect(status).toMatchObject({
      profile: 'local',
      url,
      signedIn: true,
      store: 'file',
      daemon: { state: 'running' },
    });
    const spawned = await cli(['session', 'spawn-new', 'demo', '.', '--json']);
    expect(spawned.json).toMatchObject({ status: 'ok', output: { directory: home } });
    const line = [
      'session',
      'message',
      'send',
      spawned.json.output.sessionId,
      'say hello',
      '--wait',
      '--json',
    ];
    expect((await cli(line)).json.output).toMatchObject({ status: 'completed', reply: 'hello' });
  });

  it('names two things to try that work when they are pasted into another terminal', async () => {
    const { output, home } = await world();
    const { stdout } = output();
    const folder = await makeFolder();
    const lines = stdout.slice(stdout.indexOf('Two things')).match(/^ {2}\S.*$/gm) ?? [];
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe(`  export KAIWU_HOME=${home}`);
    expect(lines.slice(1).every((line) => line.startsWith(`  ${KAIWU} session `))).toBe(true);
    const { KAIWU_HOME: _, ...env } = bareEnv(home);
    const paste = (text: string) => runKaiwu(['-c', text], { command: ['/bin/sh'], env, cwd: folder });
    const pasted = await paste(lines.join('\n'));
    expect(pasted.stderr).toBe('');
    expect(pasted.stdout).toContain(`directory        ${folder}\n`);
    expect(pasted.stdout).toContain('First session  idle');
    const next = /^next {2}(.*)$/m.exec(pasted.stdout)?.[1] ?? '';
    expect((await paste([lines[0], next].join('\n'))).stdout).toMatch(/reply +hello\n$/);
    await rm(folder, { recursive: true });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to the whole group, as from a terminal or `timeout`, is one quiet end',
    async (signal) => {
      const { pid, output } = await world();
      const all = [seenOf(pid), ...descendantsOf(pid)];
      const before = output().stderr;
      process.kill(-pid, signal);
      expect(await waitGone(all, 20_000)).toEqual([]);
      expect(output().stderr).toBe(before);
    },
  );

  it.each(['sees both at once', 'sees its own signal later'])(
    'starts nothing again when its children were told to end first and it %s',
    async (when) => {
      const { pid, output } = await world();
      const children = descendantsOf(pid);
      const before = output().stderr;
      if (when === 'sees both at once') process.kill(pid, 'SIGSTOP');
      for (const child of children) process.kill(child.pid, 'SIGTERM');
      expect(await waitGone(children, 20_000)).toEqual([]);
      process.kill(pid, 'SIGTERM');
      process.kill(pid, 'SIGCONT');
      expect(await waitGone([seenOf(pid)], 20_000)).toEqual([]);
      expect(output().stderr).toBe(before);
    },
  );

  it('tells who stops its daemon that it comes back', async () => {
    const { cli, pid, home } = await world();
    const before = await stateOf(join(home, 'profiles/local/daemon.json'));
    const { output } = (await cli(['daemon', 'stop', '--json'])).json;
    expect(output.note).toContain(`\`kaiwu up\` (pid ${pid}) runs it and starts it again`);
    const restarted = (await cli(['daemon', 'restart', '--json'])).json.output;
    expect(restarted.state).toBe('running');
    expect(restarted.pid).not.toBe(before.pid);
    const after = await stateOf(join(home, 'profiles/local/daemon.json'));
    expect(descendantsOf(pid).map((child) => child.pid)).toContain(after.pid);
  });

  it('a second start finds the first, and ends well', async () => {
    const { cli, pid, url } = await world();
    const [second, third] = await Promise.all([cli(['up', '--no-open']), cli(['up'])]);
    for (const { code, stdout } of [second, third]) {
      expect(code).toBe(0);
      expect(stdout.startsWith(`Kaiwu is already running (pid ${pid}).\nready ${url}\n`)).toBe(true);
      expect(stdout).toContain(`${url}/#key=`);
    }
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops everything, agents too', async (signal) => {
    const made = await world();
    expect((await made.cli(['session', 'spawn-new', 'demo', '.'])).code).toBe(0);
    const seen = descendantsOf(made.pid);
    expect(seen.length).toBeGreaterThanOrEqual(3);
    process.kill(made.pid, signal);
    expect(await waitGone([seenOf(made.pid), ...seen], 15_000)).toEqual([]);
    // A plain end: no state of a running process stays.
    for (const name of ['up.json', 'backend/backend.json', 'profiles/local/daemon.json']) {
      await expect(readFile(join(made.home, name))).rejects.toThrow('ENOENT');
    }
  });

  it('killed with -9 leaves no process, and the next start has the same address and sessions', async () => {
    const first = await world();
    await first.cli(['session', 'spawn-new', 'demo', '.', '--title', 'kept']);
    const seen = descendantsOf(first.pid);
    await first.kill();
    expect(await waitGone(seen, 15_000)).toEqual([]);
    const second = await startWorld({ home: first.home });
    expect(second.url).toBe(first.url);
    const { output } = (await second.cli(['session', 'list', '--json'])).json;
    expect(output.sessions.map(({ title }: { title: string }) => title)).toEqual(['kept']);
    await second.stop();
  });

  it('starts a backend or a daemon that was killed again, at the same address', async () => {
    const { home, cli, url, output } = await world();
    const paths = {
      backend: join(home, 'backend/backend.json'),
      daemon: join(home, 'profiles/local/daemon.json'),
    };
    for (const [name, path] of Object.entries(paths)) {
      const before = await stateOf(path);
      process.kill(before.pid, 'SIGKILL');
      const after = await until(async () => {
        const state = await stateOf(path);
        return state.pid === before.pid ? undefined : state;
      });
      expect(after.url).toBe(url);
      expect(output().stderr).toContain(`${name} ended (SIGKILL)`);
    }
    const spawned = await until(async () => {
      const result = await cli(['session', 'spawn-new', 'demo', '.', '--json']);
      return result.code === 0 ? result : undefined;
    });
    expect(spawned.json.output.status).toBe('idle');
  });

  it('uses a daemon that runs already as it is, and leaves it running', async () => {
    const home = await makeFolder('kaiwu-world-');
    const before = await startWorld({ home });
    await before.stop();
    const daemon = (await before.cli(['daemon', 'start', '--json'])).json.output;
    const again = await world({ home });
    expect(again.output().stderr).toContain(`runs already (pid ${daemon.pid})`);
    await again.stop();
    expect(createProcessTable().startTime(daemon.pid)).toBeDefined();
    await before.cli(['daemon', 'stop']);
    await rm(home, { recursive: true });
  });

  it('takes the port that is asked for, and says when it is taken', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as AddressInfo;
    const home = await makeHome();
    const { code, stderr } = await home.cli(['up', '--port', String(port)]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(String(port));
    blocker.close();
    await home.remove();
  });

  it('does not take over a profile `local` of somebody else', async () => {
    const home = await makeHome();
    await home.cli(['server', 'add', 'local', 'https://kaiwu.example.com']);
    const { code, stderr } = await home.cli(['up']);
    expect(code).toBe(6);
    expect(stderr).toContain('The profile local names https://kaiwu.example.com');
    await home.remove();
  });

  it('stops with the message of a damaged database, and leaves it', async () => {
    const home = await makeHome();
    await (await startWorld({ home: home.home })).stop();
    const database = home.path('backend/kaiwu.db');
    await writeFile(database, 'this is no database, whatever its name says');
    const { code, stderr } = await runKaiwu(['up'], { env: bareEnv(home.home), cwd: home.home });
    expect(code).not.toBe(0);
    expect(stderr).toContain(database);
    expect(readFileSync(database, 'utf8')).toContain('this is no database');
    await home.remove();
  });
});
