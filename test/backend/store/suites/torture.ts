import { expect, test } from 'vitest';
import type { ApprovalStatus } from '../../../../src/core/approval.ts';
import { APPROVAL_MOVES, isSettled } from '../../../../src/core/approval.ts';
import { APPROVALS, MAX_PENDING } from '../amounts.ts';
import { useCrew } from '../crew.ts';
import type { TestDatabase } from '../databases.ts';
import { file, newApproval, newGrant, readAll } from '../make.ts';
import { spawnChild } from '../spawn-child.ts';

/** Several processes at once on one database, some of them killed. */
export function tortureSuite(database: TestDatabase): void {
  const crew = useCrew(database);

  /** What each process said. The first ones are killed, each after some more of its lines than the one before. */
  const run = async (killed: number): Promise<string[][]> =>
    Promise.all(
      crew.children.map(async (child, i) => {
        if (i >= killed) return child.rest();
        const said: string[] = [];
        while (said.length < 2 + 2 * i && said.at(-1) !== 'done') said.push(await child.line());
        await child.kill();
        // What it had still said before its end.
        return [...said, ...(await child.rest())];
      }),
    );

  /** Every state that each approval has had, in order: the feed has them from the very transactions of the moves. */
  const statusesOf = async (): Promise<{ artifactId: string; status: string }[]> => {
    const entries = await crew.world.store.feed.since(0, 100_000);
    return entries.filter((entry) => entry.type === 'approval.changed');
  };

  test('8 processes move 200 approvals while some are killed: only allowed moves, none executed twice', async () => {
    for (let i = 0; i < APPROVALS; i++)
      await file(crew.world.store, newApproval(`a-${i}`, crew.world.runtime));
    await crew.start('move', 8);
    const said = await run(4);
    for (const survivor of said.slice(4)) expect(survivor.at(-1)).toBe('done');
    expect(said.filter((lines) => lines.at(-1) !== 'done').length).toBeGreaterThan(0);

    const histories = new Map<string, string[]>();
    for (const { artifactId, status } of await statusesOf()) {
      histories.set(artifactId, [...(histories.get(artifactId) ?? []), status]);
    }
    expect(histories.size).toBe(APPROVALS);
    const moves = new Set<string>();
    for (const [artifactId, statuses] of histories) {
      expect(statuses[0]).toBe('pending');
      for (const [i, to] of statuses.slice(1).entries()) {
        expect(APPROVAL_MOVES[statuses[i] as ApprovalStatus]).toContain(to);
        moves.add(`${artifactId} ${statuses[i]} ${to}`);
      }
      expect(statuses.filter((status) => status === 'executing').length).toBeLessThanOrEqual(1);
      const status = (await crew.world.store.approvals.get(artifactId))?.status ?? 'pending';
      expect(status).toBe(statuses.at(-1));
      expect(isSettled(status)).toBe(true);
    }
    // Each move was made by one process, and none that was acknowledged is lost; a killed one may not have said its last.
    const claimed = said.flat().filter((line) => line !== 'done');
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(claimed.filter((move) => !moves.has(move))).toEqual([]);
    expect(moves.size - claimed.length).toBeLessThanOrEqual(4);
  });

  test('6 processes file the same few requests: one card each, and never too many', async () => {
    await crew.start('file', 6);
    const said = await run(2);
    for (const survivor of said.slice(2)) expect(survivor.at(-1)).toBe('done');
    expect(said.flat()).toContain('refused');

    const approvals = await readAll((page) => crew.world.store.approvals.list({}, page), 100);
    const cards = new Map(approvals.map((approval) => [approval.artifactId, approval]));
    const counts = new Map<string, number>();
    const pending = new Map<string, Set<string>>();
    for (const { artifactId, status } of await statusesOf()) {
      const { requester, inputDigest } = cards.get(artifactId) ?? newApproval('none', crew.world.runtime);
      const kinds = pending.get(requester.tokenId) ?? new Set();
      pending.set(requester.tokenId, kinds);
      if (status !== 'pending') expect(kinds.delete(inputDigest)).toBe(true);
      else {
        // A first card only where there is none of its kind; later ones count up on it.
        expect(kinds.has(inputDigest)).toBe(counts.has(artifactId));
        kinds.add(inputDigest);
        counts.set(artifactId, (counts.get(artifactId) ?? 0) + 1);
        expect(kinds.size).toBeLessThanOrEqual(MAX_PENDING);
      }
    }
    expect(Object.fromEntries(counts)).toEqual(
      Object.fromEntries(approvals.map((approval) => [approval.artifactId, approval.count])),
    );
  });

  test('processes that race for the uses of a grant get exactly those', async () => {
    const { grants } = crew.world.store;
    await grants.insert(newGrant('grant_1', crew.world.runtime, { uses: 25, usesLeft: 25 }));
    await crew.start('use', 4);
    const said = (await run(0)).flat();
    expect(said.filter((line) => line === 'used')).toHaveLength(25);
    expect(said.filter((line) => line === 'refused')).toHaveLength(4 * 20 - 25);
    expect(await grants.get('grant_1')).toMatchObject({ uses: 25, usesLeft: 0 });
  });

  test('the audit of processes that are killed is one chain with every row that was acknowledged', async () => {
    crew.children = Array.from({ length: 4 }, (_, i) =>
      spawnChild('audit', database.name, crew.world.location, `p${i}`),
    );
    const said = await run(4);
    const { rows, fault } = await crew.world.store.audit.verify();
    expect(fault).toBeUndefined();
    let stored = 0;
    for (const [i, lines] of said.entries()) {
      const kept = await readAll((page) => crew.world.store.audit.list({ client: `p${i}` }, page), 200);
      expect(kept.length - lines.length).toBeOneOf([0, 1]);
      stored += kept.length;
    }
    expect(rows).toBe(stored);
  });
}
