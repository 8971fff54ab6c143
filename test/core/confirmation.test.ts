import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller, Envelope } from '../../src/core/call.ts';
import { openVoiceWorld, token, type VoiceWorld } from './helpers/voice-world.ts';

let w: VoiceWorld;
beforeEach(async () => {
  w = await openVoiceWorld();
});
afterEach(() => w.close());

const person: Caller = { surface: 'cli', client: 'cli', tokenId: 'tok_2', tokenKind: 'device', scope: {} };
const codeOf = (envelope: Envelope) => (envelope.status === 'error' ? envelope.error.code : envelope.status);
const add = (text: string, confirmation?: string) =>
  w.say('memo.add', { text }, confirmation === undefined ? {} : { confirmation });
const wrongFor = (code: string) => String(code === '9999' ? 1000 : Number(code) + 1);
const statusOf = async (artifactId: string) => (await w.approvals.get(artifactId)).status;
const auditRows = async () => (await w.store.audit.list({ order: 'oldest' }, { limit: 200 })).items;

describe('what a voice changes', () => {
  it('is said back first, runs once with the code, and answers as the action does', async () => {
    const first = await w.hear('memo.add', { text: 'Buy tea' });
    expect(first).toEqual({
      artifactId: expect.any(String),
      code: expect.stringMatching(/^[1-9]\d{3}$/),
      words: 'Do add: text "Buy tea". Shall I do that?',
      expiresAt: '2026-11-30T12:02:00.000Z',
    });
    expect(w.effects).toEqual([]);
    expect(await w.approvals.list({ status: 'pending' }, { limit: 9 })).toMatchObject({
      items: [{ artifactId: first.artifactId, confirmation: { words: first.words } }],
    });
    expect(await add('Buy tea', first.code)).toEqual({ status: 'ok', output: { text: 'Buy tea' } });
    expect(w.effects).toEqual(['Buy tea']);
    expect(await w.approvals.get(first.artifactId)).toMatchObject({
      status: 'succeeded',
      decidedBy: 'voice:kitchen',
      result: { status: 'ok', output: { text: 'Buy tea' } },
    });
    const rows = (await auditRows()).filter(({ actionId }) => actionId === 'memo.add');
    expect(rows.map(({ outcome, approvalId }) => [outcome, approvalId])).toEqual([
      ['approval_required', first.artifactId],
      ['ok', first.artifactId],
    ]);
  });

  it('is refused where a field is secret, which is neither kept nor said', async () => {
    const refused = await w.say('memo.add', { text: 'x', pin: 'swordfish' });
    expect(codeOf(refused)).toBe('unsupported');
    expect(JSON.stringify([refused, await auditRows()])).not.toContain('swordfish');
    expect((await w.approvals.list({}, { limit: 9 })).items).toEqual([]);
  });

  it('reads are not, and neither is what other surfaces do', async () => {
    expect(codeOf(await w.say('memo.list'))).toBe('ok');
    expect(codeOf(await w.say('memo.list', {}, { confirmation: '1234' }))).toBe('ok');
    const refused = await w.say('memo.add', { text: 'x' }, {}, { surface: 'cli' });
    expect(codeOf(refused)).toBe('forbidden');
  });

  it('takes the code beside the input, in it, or deep inside, however it was heard', async () => {
    const ways: ((text: string, code: string) => Promise<Envelope>)[] = [
      (text, code) => add(text, code),
      (text, code) => w.say('memo.add', { text, confirmation: code }),
      (text, code) => w.say('memo.add', { text, confirmation: Number(code) }),
      (text, code) => w.say('memo.add', { text, confirmation: code.split('').join(' ') }),
      (text, code) => w.say('memo.add', JSON.stringify({ text, confirmation: code })),
      (text, code) => w.say('memo.any', { actionId: 'memo.add', input: { text }, confirmation: code }),
      (text, code) => w.say('memo.any', { actionId: 'memo.add', input: { text, confirmation: code } }),
      (text, code) =>
        w.say('memo.any', { actionId: 'memo.add', input: JSON.stringify({ text, confirmation: code }) }),
    ];
    for (const [i, way] of ways.entries()) {
      const { code } = await w.hear(i % 2 ? 'memo_add' : 'memo.add', { text: `way ${i}`, confirmation: '' });
      expect([i, await way(`way ${i}`, code)]).toEqual([i, { status: 'ok', output: { text: `way ${i}` } }]);
    }
    expect(w.effects).toHaveLength(ways.length);
  });

  it('a code is nowhere but in its answer: not in the audit, the store, or what is shown', async () => {
    const { code } = await w.hear('memo.add', { text: 'quiet' });
    const wrong = wrongFor(code);
    await w.say('memo.add', { text: 'quiet', confirmation: wrong });
    await w.say('memo.nothing', { actionId: 'memo.add', input: { input: { confirmation: code } } });
    await w.say('memo.any', {
      actionId: 'memo.any',
      input: { actionId: 'x', input: { confirmation: code } },
    });
    await w.say('memo.add', { text: 'quiet', confirmation: code }, { idempotencyKey: 'key' });
    const { items } = await w.approvals.list({}, { limit: 9 });
    expect(Object.keys(items[0]!.confirmation!)).toEqual(['words']);
    const kept = JSON.stringify([await auditRows(), items]);
    const { items: stored } = await w.store.approvals.list({}, { limit: 9 });
    for (const digits of [code, wrong]) {
      for (const text of [kept, JSON.stringify(stored)]) {
        expect(text.match(new RegExp(`(?<![0-9a-f-])${digits}(?![0-9a-f-])`))).toBeNull();
      }
    }
    expect(w.effects).toEqual(['quiet']);
  });
});

describe('a code', () => {
  it('that was used answers the same outcome and runs nothing more', async () => {
    const { code } = await w.hear('memo.add', { text: 'once' });
    const [first, again] = [await add('once', code), await add('once', code)];
    expect(again).toEqual(first);
    w.runtime.advance(3_600_000);
    expect(await add('once', code)).toEqual(first);
    expect(w.effects).toEqual(['once']);
    const second = await w.hear('memo.add', { text: 'once' });
    expect(second.code).not.toBe(code);
    expect(codeOf(await add('once', second.code))).toBe('ok');
    expect(w.effects).toEqual(['once', 'once']);
  });

  it('brought by twenty at once runs once, and all hear how it ended', async () => {
    const { code } = await w.hear('memo.add', { text: 'crowd' });
    let open = () => {};
    w.gate = new Promise((resolve) => (open = resolve));
    const entered = new Promise<void>((resolve) => (w.entered = resolve));
    const all = Promise.all(Array.from({ length: 20 }, () => add('crowd', code)));
    await entered;
    open();
    expect(new Set((await all).map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ status: 'ok', output: { text: 'crowd' } })]),
    );
    expect(w.effects).toEqual(['crowd']);
  });

  it('that is wrong three times is spent, also for a crowd', async () => {
    for (const atOnce of [false, true]) {
      const text = `guess ${atOnce}`;
      const { code, artifactId } = await w.hear('memo.add', { text });
      const guess = () => add(text, wrongFor(code));
      const tries = atOnce
        ? await Promise.all([guess(), guess(), guess(), guess(), guess()])
        : [await guess(), await guess(), await guess()];
      expect(tries.slice(0, 3).map(codeOf)).toEqual(Array(3).fill('confirmation_required'));
      expect(await statusOf(artifactId)).toBe('canceled');
      expect(codeOf(await add(text, code))).toBe('approval_already_decided');
    }
    expect(w.effects).toEqual([]);
  });

  it('lasts two minutes, by a clock that nobody sets', async () => {
    const { code, artifactId } = await w.hear('memo.add', { text: 'late' });
    w.runtime.setClock(-86_400_000);
    w.runtime.advance(119_000);
    expect(await statusOf(artifactId)).toBe('pending');
    w.runtime.advance(2000);
    expect(codeOf(await add('late', code))).toBe('approval_expired');
    expect(await statusOf(artifactId)).toBe('expired');
    expect(w.effects).toEqual([]);
  });

  it('is replaced when the same is asked again, and that is one request', async () => {
    const first = await w.hear('memo.add', { text: 'twice' });
    w.runtime.advance(100_000);
    const second = await w.hear('memo.add', { text: 'twice' });
    expect(second).toMatchObject({ artifactId: first.artifactId, words: first.words });
    expect(second.expiresAt > first.expiresAt).toBe(true);
    if (first.code !== second.code) {
      expect(codeOf(await add('twice', first.code))).toBe('confirmation_required');
    }
    expect(codeOf(await add('twice', second.code))).toBe('ok');
  });

  it('for nothing that was read back has it read back', async () => {
    expect(await add('new', '1234')).toMatchObject({ confirmation: { code: expect.any(String) } });
    expect(w.effects).toEqual([]);
  });
});

describe('whatever changed since the words were heard', () => {
  const cases: Record<string, { change(): Promise<unknown>; call?: { input?: object; sessionId?: string } }> =
    {
      'the input': { change: async () => {}, call: { input: { name: 'other' } } },
      'the session': { change: async () => {}, call: { sessionId: 'sess_other00000000' } },
      "the session's title": { change: () => w.store.sessions.setTitle('sess_abcdefgh12345678', 'New') },
      'the policy': {
        change: () => w.store.policies.set({ 'memo.*': { voice: { approval: true } } }, undefined, 'test'),
      },
    };

  it.each(Object.entries(cases))('%s: stale, and nothing is run', async (_, { change, call = {} }) => {
    const context = { sessionId: 'sess_abcdefgh12345678' };
    const { code, words } = await w.hear('memo.name', { name: 'tea' }, context);
    expect(words).toBe('Do name: name "tea"; session "place", ending in 5 6 7 8. Shall I do that?');
    await change();
    const input = { name: 'tea', ...call.input };
    const again = () =>
      w.say('memo.name', input, { confirmation: code }, { sessionId: call.sessionId ?? context.sessionId });
    expect(codeOf(await again())).toBe('approval_stale');
    expect(w.effects).toEqual([]);
    expect(codeOf(await again())).toBe('approval_stale');
  });

  it('a call that the policy bars is refused as ever', async () => {
    const { code } = await w.hear('memo.add', { text: 'x' });
    await w.store.policies.set({ 'memo.add': { voice: { enabled: false } } }, undefined, 'test');
    expect(codeOf(await add('x', code))).toBe('action_disabled');
  });
});

describe('beside the inbox', () => {
  it('a no in between wins, and so does a yes', async () => {
    const denied = await w.hear('memo.add', { text: 'no' });
    await w.approvals.decide(denied.artifactId, 'deny', 'not now', person);
    expect(codeOf(await add('no', denied.code))).toBe('approval_already_decided');
    const approved = await w.hear('memo.add', { text: 'yes' });
    await w.approvals.decide(approved.artifactId, 'approve', undefined, person);
    expect(await add('yes', approved.code)).toEqual({ status: 'ok', output: { text: 'yes' } });
    expect(w.effects).toEqual(['yes']);
  });

  it('where the policy or a floor asks a person, the code stands in for nobody', async () => {
    await w.store.policies.set({ 'memo.add': { voice: { approval: true } } }, undefined, 'test');
    for (const actionId of ['memo.add', 'memo.floor']) {
      const input = actionId === 'memo.add' ? { text: 'asked' } : {};
      const first = await w.say(actionId, input, { idempotencyKey: actionId });
      expect(first).toMatchObject({ status: 'approval_required', approval: { status: 'pending' } });
      expect('confirmation' in first).toBe(false);
      const again = await w.say(actionId, input, { idempotencyKey: actionId, confirmation: '1234' });
      expect(again).toEqual(first);
    }
    const caller: Caller = { ...person, surface: 'voice', tokenId: token.tokenId };
    const { items } = await w.approvals.list({ status: 'pending' }, { limit: 9 });
    await expect(
      w.approvals.decide(items[0]!.artifactId, 'approve', undefined, caller),
    ).rejects.toMatchObject({
      code: 'permission_escalation_denied',
    });
    expect(w.effects).toEqual([]);
  });

  it('a grant waives the inbox and not the read-back, and is used when it runs', async () => {
    await w.store.policies.set({ 'memo.add': { voice: { approval: true } } }, undefined, 'test');
    const asked = await add('granted');
    if (asked.status !== 'approval_required') throw new Error('not asked');
    await w.approvals.decide(asked.approval.artifactId, 'approve', undefined, person);
    const give = () =>
      w.grants.create(
        { artifactId: asked.approval.artifactId, onThisMachineOnly: false, hours: 1, uses: 1 },
        person,
      );
    const { grantId } = await give();
    const { code } = await w.hear('memo.add', { text: 'granted' });
    const left = async () => (await w.store.grants.get(grantId))?.usesLeft;
    expect(await left()).toBe(1);
    expect(codeOf(await add('granted', code))).toBe('ok');
    expect(await left()).toBe(0);
    expect((await auditRows()).at(-1)).toMatchObject({ outcome: 'ok', grantId });
    const second = await give();
    const late = await w.hear('memo.add', { text: 'granted' });
    await w.grants.revoke(second.grantId, person);
    expect(codeOf(await add('granted', late.code))).toBe('approval_stale');
    expect(w.effects).toEqual(['granted', 'granted']);
  });

  it('a yes does not outlive the process that heard it', async () => {
    const { code, artifactId } = await w.hear('memo.add', { text: 'cut off' });
    await w.store.approvals.move(artifactId, 'pending', 'approved', { decidedBy: 'voice:kitchen' });
    await w.restart();
    expect(codeOf(await add('cut off', code))).toBe('approval_expired');
    const died = await w.hear('memo.add', { text: 'died at it' });
    await w.store.approvals.move(died.artifactId, 'pending', 'approved', { decidedBy: 'voice:kitchen' });
    await w.store.approvals.move(died.artifactId, 'approved', 'executing', {}, 'another process');
    await w.restart();
    expect(await add('died at it', died.code)).toMatchObject({
      error: { code: 'conflict', details: { outcome: 'unknown' } },
    });
    const next = await w.hear('memo.add', { text: 'over a restart' });
    await w.restart();
    expect(codeOf(await add('over a restart', next.code))).toBe('ok');
    expect(w.effects).toEqual(['over a restart']);
  });
});
