import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../src/core/session.ts';
import { letAgentsSpawn, openSessions, type SessionWorld } from './helpers/session-world.ts';
import { errorOf } from './helpers/world.ts';

let t: SessionWorld;
let sessionId: string;
beforeEach(async () => {
  t = await openSessions();
  sessionId = await t.spawn();
});
afterEach(() => t.end());

const request: Question = {
  requestId: 'q-1',
  message: 'Which colour?',
  fields: [
    { name: 'colour', type: 'choice', required: true, options: [{ id: 'blue', name: 'Blue' }] },
    { name: 'shades', type: 'choices', required: false, options: [{ id: 'dark', name: 'Dark' }] },
    { name: 'count', type: 'integer', required: false },
    { name: 'why', type: 'text', required: false },
    { name: 'sure', type: 'boolean', required: false },
  ],
};
const ask = () =>
  t.daemon.record(
    sessionId,
    { type: 'user_message', messageId: 'msg_q', text: 'x' },
    { type: 'question_asked', messageId: 'msg_q', request },
  );
const answer = (more: object) => t.fail('session.user_action.answer', { sessionId, ...more });

describe('a question', () => {
  it('is open until it is answered with the values of its form', async () => {
    await ask();
    const status = await t.ok('session.status.get', { sessionId });
    expect(status).toMatchObject({
      status: 'waiting',
      question: { ...request, askedAt: expect.any(String) },
    });
    const content = { colour: 'blue', shades: ['dark'], count: 3, why: '', sure: false };
    await t.ok('session.user_action.answer', { sessionId, answer: 'accept', content });
    expect(t.asked('session.answer_question')).toEqual({
      sessionId,
      requestId: 'q-1',
      answer: 'accept',
      content,
      by: 'cli',
    });
    expect(await t.session(sessionId)).not.toHaveProperty('question');
    expect(await answer({ answer: 'decline' })).toMatchObject({ code: 'conflict' });
  });

  it.each([
    ['a field that is needed', {}, 'content.colour'],
    ['what is not offered', { colour: 'red' }, 'content.colour'],
    ['a text where a list is asked', { colour: 'blue', shades: 'dark' }, 'content.shades'],
    ['one of several that is not offered', { colour: 'blue', shades: ['dark', 'light'] }, 'content.shades'],
    ['half a number', { colour: 'blue', count: 1.5 }, 'content.count'],
    ['a text for a yes', { colour: 'blue', sure: 'yes' }, 'content.sure'],
    ['a field that it has not', { colour: 'blue', size: 1 }, 'content.size'],
  ])('names %s', async (_, content, path) => {
    await ask();
    const error = await answer({ answer: 'accept', content });
    expect(error).toMatchObject({ code: 'invalid_input', details: { issues: [{ path }] } });
    expect(error.hint).toContain('colour (choice)');
    expect(await t.session(sessionId)).toHaveProperty('question');
    expect(t.asked('session.answer_question')).toBeUndefined();
  });

  it('takes no values with a no, and no answer for another one', async () => {
    await ask();
    expect(await answer({ answer: 'decline', content: { colour: 'blue' } })).toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ path: 'content' }] },
    });
    expect(await answer({ answer: 'decline', requestId: 'q-0' })).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('q-1'),
    });
    await t.ok('session.user_action.answer', { sessionId, answer: 'decline', requestId: 'q-1' });
    expect(t.asked('session.answer_question')).not.toHaveProperty('content');
  });

  it('is never answered by an agent', async () => {
    await ask();
    await letAgentsSpawn(t);
    const agent = await t.agentToken(sessionId);
    const envelope = await t.asAgent(agent, 'session.user_action.answer', { answer: 'decline' });
    expect(errorOf(envelope).code).toBe('action_disabled');
    // With a person's credential in its hands it says that it is an agent, or is told so.
    const claimed = await t.fail(
      'session.user_action.answer',
      { answer: 'decline' },
      { surface: 'agent', sessionId },
    );
    expect(claimed.code).toBe('action_disabled');
  });
});

describe('settings of an agent', () => {
  it('are listed and changed by id', async () => {
    const { options } = await t.ok('session.config_option.list', { sessionId });
    expect(options).toMatchObject([
      { configId: 'thought', value: 'low' },
      { configId: 'web', value: 'false' },
    ]);
    const set = (configId: string, value: string) =>
      t.ok('session.config_option.set', { sessionId, configId, value });
    await set('thought', 'high');
    expect(t.asked('session.set_config_option')).toMatchObject({ configId: 'thought', value: 'high' });
    await set('web', 'true');
    expect(t.asked('session.set_config_option')).toMatchObject({ configId: 'web', value: true });
    const now = (await t.ok('session.config_option.list', { sessionId })).options;
    expect(now[1]).toMatchObject({ configId: 'web', value: 'true' });
  });

  it('that are not offered are named, with those that are', async () => {
    const set = (configId: string, value: string) =>
      t.fail('session.config_option.set', { sessionId, configId, value });
    expect(await set('mood', 'high')).toMatchObject({ code: 'invalid_input', hint: 'It has: thought, web.' });
    expect(await set('thought', 'hgih')).toMatchObject({ hint: 'It offers: low, high.' });
    expect(await set('web', 'maybe')).toMatchObject({ details: { issues: [{ path: 'value' }] } });
    expect(t.asked('session.set_config_option')).toBeUndefined();
  });

  it('are nothing that an agent changes', async () => {
    await letAgentsSpawn(t);
    const agent = await t.agentToken(sessionId);
    const given = { configId: 'thought', value: 'high' };
    const envelope = await t.asAgent(agent, 'session.config_option.set', given);
    expect(errorOf(envelope).code).toBe('action_disabled');
  });
});
