import { expect, test } from 'vitest';
import { runTorture } from './helpers/torture.ts';

test('8 processes decide approvals at random while backend and daemon are killed: none lost, none doubled', async () => {
  const said: string[] = [];
  const result = await runTorture({ approvals: 60, kills: 3, say: (line) => said.push(line) });
  const { lost, doubled, faults, approvals, kills } = result;
  expect({ lost, doubled, faults, said }).toEqual({ lost: [], doubled: [], faults: [], said });
  expect({ approvals, kills }).toEqual({ approvals: 60, kills: 3 });
}, 240_000);
