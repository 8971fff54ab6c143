import { expect, test } from 'vitest';
import type { SessionEvent, SessionEventBody } from '../../src/core/session.ts';
import { type Entry, toEntries } from '../../src/web/session/entries.ts';

const numbered = (...bodies: SessionEventBody[]): SessionEvent[] =>
  bodies.map((body, i) => ({ ...body, seq: i + 1, at: '2026-01-01T00:00:00Z' }));
const entriesOf = (events: SessionEvent[], before: ReadonlyMap<string, Entry> = new Map()) =>
  toEntries(events, before);
const messageId = 'msg_1';
const text = (block: number, words: string): SessionEventBody => ({
  type: 'agent_text',
  messageId,
  block,
  text: words,
});

test('pieces of one block are one entry; another block is another', () => {
  const found = [...entriesOf(numbered(text(0, 'Hel'), text(0, 'lo'), text(2, 'Bye'))).values()];
  expect(found).toMatchObject([
    { kind: 'text', text: 'Hello', seq: 1, parts: 2 },
    { kind: 'text', text: 'Bye', seq: 3, parts: 1 },
  ]);
});

test('a tool call is as it was last told, in its first place', () => {
  const call = (status: string): SessionEventBody => ({
    type: 'tool_call',
    messageId,
    toolCallId: 'c1',
    title: 'Edit',
    status,
  });
  const found = [...entriesOf(numbered(call('pending'), text(1, 'x'), call('completed'))).values()];
  expect(found).toMatchObject([{ kind: 'tool', status: 'completed', seq: 1 }, { kind: 'text' }]);
});

test('a permission and its answer are one entry; an answer without its question is none', () => {
  const request = { requestId: 'r1', title: 'dance', options: [] };
  const answered: SessionEventBody = {
    type: 'permission_resolved',
    messageId,
    requestId: 'r1',
    outcome: 'refused',
    by: 'app',
  };
  const asked: SessionEventBody = { type: 'permission_requested', messageId, request };
  expect([...entriesOf(numbered(asked, answered)).values()]).toMatchObject([
    { kind: 'permission', outcome: 'refused', by: 'app' },
  ]);
  expect(entriesOf(numbered(answered)).size).toBe(0);
});

test('what did not change is the very same object, also when older events come in front', () => {
  const events = numbered(text(0, 'a'), text(1, 'b'), text(2, 'c'));
  const later = events.slice(1);
  const first = entriesOf(later);
  const grown = entriesOf([...later, { ...text(3, 'd'), seq: 4, at: '' }], first);
  expect(grown.get('text:msg_1:1')).toBe(first.get('text:msg_1:1'));
  const older = entriesOf(events, first);
  expect(older.get('text:msg_1:2')).toBe(first.get('text:msg_1:2'));
  expect([...older.values()].map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test('an event of a kind that this page does not know is left out', () => {
  const unknown = { type: 'of_the_future', seq: 1, at: '' } as unknown as SessionEvent;
  expect(entriesOf([unknown]).size).toBe(0);
});
