import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../helpers/world.ts';
import { createCalls } from './calls.ts';
import { type FakeModel, startFakeModel } from './fake-model.ts';

let world: World;
let token: string;
let model: FakeModel;
beforeEach(async () => {
  world = await openWorld();
  ({ token } = await world.signIn());
  model = await startFakeModel();
});
afterEach(async () => {
  await world.end();
  await model.close();
});

const { ok, refused, learn, find } = createCalls(() => ({ world, token }));

describe('recall', () => {
  const endpoint = () => ({ base_url: model.url, model: 'tiny', api_key: 'kq-canary-000' });

  it('without a model is an extract that cites its passages', async () => {
    const { id } = await learn('Deploys happen on Tuesday. The weather is nice.');
    const answer = await ok('recall', { question: 'When do deploys happen?' });
    expect(answer).toMatchObject({ by: 'extract', citations: [{ id }] });
    expect(answer['answer']).toContain('Deploys happen on Tuesday. ');
    expect(await ok('recall', { question: 'xyzzy' })).toMatchObject({ citations: [] });
  });

  it('with a model is its answer, with the passages that it cites and no tools', async () => {
    const { id } = await learn('Deploys happen on Tuesday.');
    await learn('Deploys were on Monday once.');
    await ok('settings.set', { recall_model: endpoint() });
    model.say = ([, question]) =>
      `On Tuesday [${question!.content.indexOf('Tuesday') < question!.content.indexOf('Monday') ? 1 : 2}].`;
    const answer = await ok('recall', { question: 'When do deploys happen?' });
    expect(answer).toMatchObject({ by: 'model', citations: [{ id }] });
    expect(model.asked[0]).toMatchObject({
      path: '/v1/chat/completions',
      authorization: 'Bearer kq-canary-000',
      body: { model: 'tiny' },
    });
    expect(model.asked[0]!.body).not.toHaveProperty('tools');
  });

  it('falls back to the passages where the model fails, cites nothing, or cites what was not there', async () => {
    await learn('Deploys happen on Tuesday.');
    await ok('settings.set', { recall_model: endpoint() });
    for (const said of ['On Friday.', 'On Friday [7].', { status: 500, text: 'kq-canary-000 broke' }]) {
      model.say = () => said;
      const answer = await ok('recall', { question: 'When do deploys happen?' });
      expect(answer).toMatchObject({ by: 'extract', note: expect.any(String) });
      expect(answer['answer']).toContain('Tuesday');
    }
  });

  it('keys are sealed, never shown, and gone with their endpoint', async () => {
    await ok('settings.set', { recall_model: endpoint() });
    expect(await ok('settings.get')).toMatchObject({
      recall_model: { base_url: model.url, model: 'tiny', has_key: true },
    });
    expect(JSON.stringify(await ok('settings.get'))).not.toContain('canary');
    const files = readdirSync(world.home).map((name) => readFileSync(join(world.home, name), 'latin1'));
    for (const file of files) expect(file).not.toContain('kq-canary');
    await ok('settings.set', { recall_model: null });
    expect(await ok('settings.get')).not.toHaveProperty('recall_model');
  });
});

describe('hybrid', () => {
  it('is unsupported without an endpoint, and finds by meaning with one', async () => {
    await learn('aaaa bbbb');
    expect(await refused('fetch', { query: 'x', mode: 'hybrid' })).toMatchObject({ code: 'unsupported' });
    await ok('settings.set', { embeddings: { base_url: model.url, model: 'letters' } });
    const { id } = await learn('zzzz yyyy');
    await expect.poll(() => world.store.memory.withoutVector('letters', 10)).toEqual([]);
    // No word in common, the same letters.
    const [first] = await find('zy', { mode: 'hybrid' });
    expect(first).toMatchObject({ id });
  });
});
