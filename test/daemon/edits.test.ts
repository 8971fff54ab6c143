import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allInside } from '../../src/daemon/session/inside.ts';
import { pathsOf } from '../../src/daemon/session/tool-paths.ts';
import { createWorld, fakeAgent, makeHome } from './helpers/world.ts';

test('edits are accepted unasked inside the workspace only, by where their paths really lead', async () => {
  const world = await createWorld({
    agents: [
      fakeAgent('permits', {
        env: { FAKE_CAPABILITIES: JSON.stringify({ sessionCapabilities: { additionalDirectories: {} } }) },
      }),
    ],
  });
  const outside = join(world.home, 'outside');
  const more = join(world.home, 'more');
  for (const folder of [outside, more]) mkdirSync(folder);
  symlinkSync(outside, join(world.workspace, 'link'));
  await world.start('s1', 'permits', { permissionMode: 'accept_edits', additionalDirectories: [more] });

  const edit = (call: Record<string, unknown>) => JSON.stringify({ kind: 'edit', ...call });
  const at = (path: string) => edit({ locations: [{ path }] });
  const unasked = [
    at(join(world.workspace, 'new/deep/file.txt')),
    at(join(more, 'file.txt')),
    at('relative.txt'),
    edit({ content: [{ type: 'diff', path: join(world.workspace, 'a'), oldText: null, newText: '' }] }),
    edit({ rawInput: { file_path: join(world.workspace, 'a'), content: '/etc/passwd is only a text' } }),
  ];
  for (const call of unasked) {
    const { optionId } = JSON.parse((await world.turn('s1', call)).reply) as { optionId: string };
    expect([call, optionId]).toEqual([call, 'a1']);
  }
  const asked = [
    edit({}),
    at(join(world.workspace, 'link/file.txt')),
    at(join(world.workspace, '../outside/file.txt')),
    at(`${world.workspace}-beside/file.txt`),
    edit({
      locations: [{ path: join(world.workspace, 'a') }],
      rawInput: { changes: { [join(outside, 'b')]: {} } },
    }),
    edit({ locations: [{ path: 'a' }], rawInput: `*** Begin Patch\n*** Add File: ${outside}/x\n+x` }),
    at(join(world.workspace, '.git/hooks/pre-commit')),
  ];
  for (const call of asked) {
    const before = world.backend.events('s1').length;
    const turn = world.turn('s1', call);
    const { request } = await world.backend.event(
      's1',
      'permission_requested',
      (event) => event.seq > before,
    );
    expect(request).toMatchObject({ kind: 'edit', toolCallId: 't1' });
    await world.backend.request('session.answer', {
      sessionId: 's1',
      requestId: request.requestId,
      optionId: 'r1',
      by: 'app',
    });
    const { optionId } = JSON.parse((await turn).reply) as { optionId: string };
    expect([call, optionId]).toEqual([call, 'r1']);
  }
});

test('every path of a call is found, whatever its agent calls it', () => {
  expect(pathsOf({})).toBeUndefined();
  expect(pathsOf({ rawInput: { command: 'rm /x' } })).toBeUndefined();
  const names = [
    'path',
    'filePath',
    'file_path',
    'absolutePath',
    'notebook_path',
    'target_file',
    'fileName',
    'file-path',
    'relative_workspace_path',
    'outputFile',
  ];
  const input = Object.fromEntries(names.map((name, i) => [name, `/${i}`]));
  expect(pathsOf({ rawInput: { deep: [input], paths: ['/p', '/q'], uri: 'file:///u%20v' } })?.sort()).toEqual(
    [...names.map((_, i) => `/${i}`), '/p', '/q', '/u v'].sort(),
  );
  expect(pathsOf({ rawInput: Array.from({ length: 300 }, (_, i) => ({ path: `/${i}` })) })).toBeUndefined();
});

test('links are followed before it is judged where a path lies', async () => {
  const home = makeHome();
  const root = join(home, 'root');
  mkdirSync(join(home, 'other/deep'), { recursive: true });
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(root, 'file'), '');
  symlinkSync(join(home, 'other/deep'), join(root, 'out'));
  symlinkSync(join(home, 'nowhere'), join(root, 'dangling'));
  symlinkSync(root, join(home, 'alias'));
  const inside = (path: string, folder = root) => allInside([path], root, [folder]);
  expect(await inside('file')).toBe(true);
  expect(await inside(join(home, 'alias/file'))).toBe(true);
  expect(await inside('file', join(home, 'alias'))).toBe(true);
  expect(await inside('sub/../new')).toBe(true);
  for (const path of [
    'out/x',
    'out/../x',
    'dangling',
    'sub/../../x',
    '/',
    '~/x',
    '$HOME/x',
    'sub/.GIT/config',
  ]) {
    expect([path, await inside(path)]).toEqual([path, false]);
  }
  expect(await inside('file', join(home, 'gone'))).toBe(false);
});
