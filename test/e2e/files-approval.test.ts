import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, type FilesWorld, startFilesWorld } from './helpers/files-world.ts';

let world: FilesWorld;
beforeAll(async () => {
  world = await startFilesWorld();
  await world.ok('policy.set', {
    rules: { 'file.send': { cli: { approval: true }, agent: { approval: true } } },
  });
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await rm(world?.workspace, { recursive: true, force: true });
}, 60_000);

const put = (name: string, content: string) => writeFile(join(world.workspace, name), content);

async function ask(path: string) {
  const envelope = await world.send({ path });
  if (envelope.status !== 'approval_required') throw new Error(JSON.stringify(envelope));
  return envelope.approval;
}
const approve = (artifactId: string) =>
  world.act('approval.request.decide', { artifactId, decision: 'approve' });
const filesSent = async () => ((await world.ok('file.list', {})).files as unknown[]).length;

describe('a file that waits for approval', () => {
  it('is sent as it was when it was asked for', async () => {
    await put('same.txt', 'same');
    const { artifactId, summary } = await ask('same.txt');
    expect(summary).toContain('same.txt');
    expect(await approve(artifactId)).toMatchObject({
      output: { executed: true, result: { status: 'ok', output: { sizeBytes: 4 } } },
    });
  });

  it.each([
    ['has one byte changed', () => put('report.txt', 'Report')],
    ['is gone', () => rm(join(world.workspace, 'report.txt'))],
    [
      'is a link to elsewhere',
      async () => {
        await rm(join(world.workspace, 'report.txt'));
        await symlink('/etc/passwd', join(world.workspace, 'report.txt'));
      },
    ],
    [
      'is a link to a file of the same content',
      async () => {
        await rm(join(world.workspace, 'report.txt'));
        await put('twin.txt', 'report');
        await symlink('twin.txt', join(world.workspace, 'report.txt'));
      },
    ],
  ])('and %s then is refused, and nothing is delivered', async (_, change) => {
    await rm(join(world.workspace, 'report.txt'), { force: true });
    await put('report.txt', 'report');
    const before = await filesSent();
    const { artifactId } = await ask('report.txt');
    await change();
    expect(codeOf(await approve(artifactId))).toBe('approval_stale');
    expect(await filesSent()).toBe(before);
    await rm(join(world.workspace, 'report.txt'), { force: true });
  });

  it('through a link shows the person where it leads', async () => {
    await put('sub/real.txt', 'real');
    await symlink('sub/real.txt', join(world.workspace, 'alias.txt'));
    const { summary } = await ask('alias.txt');
    expect(summary).toContain('alias.txt');
    expect(summary).toContain('sub/real.txt');
  });

  it('is refused before anybody is asked where it could not be sent', async () => {
    expect(codeOf(await world.send({ path: '../x' }))).toBe('access_denied');
    expect(codeOf(await world.send({ path: 'none' }))).toBe('file_not_found');
  });

  it('asks for the agent as well', async () => {
    await put('by-agent.txt', 'x');
    expect(await world.tool({ path: 'by-agent.txt' })).toMatchObject({
      kind: 'approval_request_created',
      actionId: 'file.send',
    });
  });
});
