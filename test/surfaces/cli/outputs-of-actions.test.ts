import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ActionManifest } from '../../../src/core/spec.ts';
import { createPaint } from '../../../src/surfaces/cli/paint.ts';
import { renderOutput } from '../../../src/surfaces/cli/render.ts';

const manifests = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../dist/catalog.json'), 'utf8'),
) as ActionManifest[];

function shown(id: string, output: Record<string, unknown>, width?: number): string[] {
  const manifest = manifests.find((candidate) => candidate.id === id)!;
  const style = { paint: createPaint(false), timeZone: 'UTC', program: 'kaiwu' };
  return renderOutput(output, manifest, width === undefined ? style : { ...style, width }).split('\n');
}

const at = '2026-11-30T18:49:51Z';
const lineage = [{ sessionId: 'sess_0123456789', title: 'Root' }, { sessionId: 'sess_abcdefghijklmn' }];
const items = [
  {
    kind: 'permission',
    itemId: 'p',
    title: 'rm -rf build',
    at,
    sessionId: 'sess_1',
    agentId: 'demo',
    lineage,
  },
  { kind: 'approval', itemId: 'a b', title: 'Set the title', at, lineage: [] },
  {
    kind: 'question',
    itemId: 'q',
    title: 'Which?',
    at,
    sessionId: 'sess_2',
    question: { fields: [{ name: "it's" }] },
    lineage: [],
  },
];

it('the inbox says with which command each thing is answered, beside it where a line holds both', () => {
  expect(shown('inbox.list', { items })).toEqual([
    'kind        what           session               agent  since                next',
    'permission  rm -rf build   Root › sess_abcdefgh  demo   2026-11-30 18:49:51  kaiwu session permission respond sess_1 <allow|deny>',
    "approval    Set the title                               2026-11-30 18:49:51  kaiwu approval request decide 'a b' <approve|deny>",
    "question    Which?         sess_2                       2026-11-30 18:49:51  kaiwu session user-action answer sess_2 accept --content '{\"it'\\''s\":\"…\"}'",
  ]);
  expect(shown('inbox.list', { items: items.slice(0, 1) }, 80)).toEqual([
    'kind        what          session               agent  since',
    'permission  rm -rf build  Root › sess_abcdefgh  demo   2026-11-30 18:49:51',
    '    kaiwu session permission respond sess_1 <allow|deny>',
  ]);
});

it('a wait that ended at a question says what is asked and how it is answered', () => {
  const sent = { sessionId: 'sess_1', messageId: 'msg_1', status: 'running' };
  const waitingFor = { kind: 'question', requestId: 'q', title: 'Go on?' };
  expect(shown('session.message.send', { ...sent, waitingFor })).toEqual([
    'session id              sess_1',
    'message id              msg_1',
    'status                  running',
    'waiting for.kind        question',
    'waiting for.request id  q',
    'waiting for.title       Go on?',
    '',
    'next  kaiwu session user-action answer sess_1 accept',
  ]);
  expect(shown('session.message.send', sent)).toHaveLength(3);
});

it('a transcript has a text for each event that a person or an agent made', () => {
  const events = [
    { seq: 1, at, type: 'question_asked', request: { message: 'Which?' } },
    { seq: 2, at, type: 'question_answered', answer: 'accept' },
    { seq: 3, at, type: 'agent_attachment', kind: 'image', path: '/a/b.png' },
    { seq: 4, at, type: 'config_options_changed', configOptions: [{ name: 'Depth', value: 'high' }] },
    {
      seq: 5,
      at,
      type: 'plan',
      entries: [
        { content: 'Read', status: 'completed' },
        { content: 'Write', status: 'in_progress' },
        { content: 'Test', status: 'pending' },
      ],
    },
  ];
  const lines = shown('session.transcript.get', { events }).map((line) => line.replace(/^\d.*51 {2}/, ''));
  expect(lines.slice(1)).toEqual([
    'question_asked          Which?',
    'question_answered       accept',
    'agent_attachment        /a/b.png',
    'config_options_changed  Depth: high',
    'plan',
    '     [x] Read',
    '     [>] Write',
    '     [ ] Test',
  ]);
});

it('tells a transcript: one line an event, long text below it, and no text can pass for an event', () => {
  const at = '2026-11-30T18:49:51.979Z';
  const long = 'The quick brown fox jumps over the lazy dog and runs on through the forest until the river.';
  const events = [
    { seq: 1, at, type: 'session_started', acpSessionId: 'x', resumed: 'new', permissionMode: 'plan' },
    { seq: 2, at, type: 'user_message', messageId: 'msg_1', text: 'say hello' },
    { seq: 3, at, type: 'agent_text', messageId: 'msg_1', block: 0, text: long },
    { seq: 4, at, type: 'agent_text', messageId: 'msg_1', block: 0, text: '- one\n\t- two\u202e\n' },
    { seq: 5, at, type: 'permission_requested', messageId: 'msg_1', request: { title: 'rm -rf build' } },
    { seq: 6, at, type: 'turn_ended', messageId: 'msg_1', outcome: 'failed', reason: { message: 'Gone.' } },
  ];
  const output = { sessionId: 'sess_1', events, lastSeq: 6 };
  expect(shown('session.transcript.get', output, 80)).toEqual([
    'seq  at                   type                  what',
    '1    2026-11-30 18:49:51  session_started       new',
    '2    2026-11-30 18:49:51  user_message          say hello',
    '3    2026-11-30 18:49:51  agent_text',
    '     The quick brown fox jumps over the lazy dog and runs on through the forest',
    '     until the river.',
    '4    2026-11-30 18:49:51  agent_text',
    '     - one',
    '         - two\\u202e',
    '5    2026-11-30 18:49:51  permission_requested  rm -rf build',
    '6    2026-11-30 18:49:51  turn_ended            Gone.',
    '',
    'session id  sess_1',
    'last seq    6',
  ]);
});
