import { expect, it } from 'vitest';
import { type Directives, runDirective } from '../../src/daemon/demo/directives.ts';

async function replyTo(message: string): Promise<string> {
  let reply = '';
  const turn: Directives = {
    directories: ['/'],
    mcpServers: [],
    past: [],
    heard: [],
    signal: new AbortController().signal,
    newId: () => 'id',
    exit: () => {},
    async update(update) {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        reply += update.content.text;
    },
    permission: () => Promise.reject(new Error('nothing is asked')),
  };
  await runDirective(message, turn);
  return reply;
}

it('a line that begins with @ and a word of the demo agent is done, whatever stands before it', async () => {
  expect(await replyTo('You are asked for much.\n\n@say one\ntwo\n')).toBe('one\ntwo');
  expect(await replyTo('@unknown\n@say found')).toBe('found');
  for (const echoed of ['You @say nothing', '@unknown', '@sayings', 'You are asked.'])
    expect(await replyTo(echoed)).toBe(echoed);
});
