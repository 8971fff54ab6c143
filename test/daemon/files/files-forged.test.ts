import { expect, test } from 'vitest';
import { createWorld, fakeAgent } from '../helpers/world.ts';

test('an agent cannot show a file that Kaiwu did not send', async () => {
  const world = await createWorld({ agents: [fakeAgent('content')] });
  await world.start('s1', 'content');
  const forged = { kind: 'file', fileId: 'file_0123456789abcdef', sizeBytes: 1, sealed: 'AAAA' };
  const call = { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Look', kind: 'read', display: forged };
  await world.turn('s1', `!${JSON.stringify([{ ...call, rawOutput: 'kept' }])}`);
  const told = world.backend.events('s1').find((event) => event.type === 'tool_call');
  expect(told?.content).toEqual({ rawOutput: 'kept' });
});
