import { expect, test } from 'vitest';
import { until } from './helpers/host.ts';
import { useSetup } from './helpers/setup.ts';

const setup = useSetup();

test('a host that drops and comes back again and again disturbs no other', async () => {
  const backend = await setup.backend();
  backend.answer = async ({ input }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { status: 'ok', output: { input } };
  };
  const steady = await setup.host();
  await steady.initialize('2025-11-25', 'Steady');
  await steady.request('tools/list');
  const drops = (async () => {
    for (let i = 0; i < 8; i += 1) {
      const host = await setup.host();
      await host.initialize('2025-11-25', 'Flaky');
      host.send({ id: 'lost', method: 'tools/call', params: { name: 'session_list' } });
      await host.kill();
    }
  })();
  let count = 0;
  let dropping = true;
  void drops.finally(() => {
    dropping = false;
  });
  // oxlint-disable-next-line no-unmodified-loop-condition -- it ends with the other host
  while (dropping) {
    count += 1;
    const { result } = await steady.request('tools/call', {
      name: 'session_list',
      arguments: { text: String(count) },
    });
    expect(result.structuredContent.input.text).toBe(String(count));
  }
  await drops;
  expect(count).toBeGreaterThan(5);
  await until('one stream alone', () => backend.streams.size === 1);
});

test('many calls at once are answered each by its own', async () => {
  const backend = await setup.backend();
  backend.answer = async ({ input }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
    return { status: 'ok', output: { input } };
  };
  const host = await setup.host();
  await host.initialize();
  const texts = Array.from({ length: 200 }, (_, i) => `n${i}`);
  const answers = await Promise.all(
    texts.map((text) => host.request('tools/call', { name: 'session_list', arguments: { text } }, text)),
  );
  expect(answers.map(({ result }) => result.structuredContent.input.text)).toEqual(texts);
  expect(host.stderr()).not.toMatch(/MaxListeners/);
});
