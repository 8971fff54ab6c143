import { expect, test } from 'vitest';
import { toFrame } from '../../src/core/frame.ts';

test('noise around a message is told from the message', () => {
  const message = { jsonrpc: '2.0', id: 1, result: { a: '{' } };
  const json = JSON.stringify(message);
  expect(toFrame(json)).toEqual({ noise: '', message });
  expect(toFrame(`\u001b]0;title\u0007${json}`)).toEqual({ noise: '\u001b]0;title\u0007', message });
  expect(toFrame(`{braces} ${json}`)).toEqual({ noise: '{braces}', message });
  expect(toFrame('{"not": "rpc"}')).toEqual({ noise: '{"not": "rpc"}' });
  expect(toFrame('hello')).toEqual({ noise: 'hello' });
  expect(toFrame('')).toEqual({ noise: '' });
});
