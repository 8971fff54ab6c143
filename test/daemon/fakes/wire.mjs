// What the fake agent says to its client: raw JSON-RPC lines.
import { writeSync } from 'node:fs';

let nextId = 1000;
/** Answers that are waited for, by the id of their request. */
export const open = new Map();

export const raw = (text) => writeSync(1, text);
export const send = (message) => writeAll(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
/** The pipe is non-blocking: a full one is tried again. */
export function writeAll(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}
export const reply = (id, result) => send({ id, result });
export const fail = (id, code, message, data) => send({ id, error: { code, message, data } });
export const update = (update) => send({ method: 'session/update', params: { sessionId: 'fake', update } });
export const say = (text) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
export const ask = (method, params) =>
  new Promise((resolve) => {
    const id = nextId++;
    open.set(id, resolve);
    send({ id, method, params: { sessionId: 'fake', ...params } });
  });
const OPTIONS = [
  { optionId: 'a2', name: 'Always', kind: 'allow_always' },
  { optionId: 'r1', name: 'No', kind: 'reject_once' },
  { optionId: 'a1', name: 'Yes', kind: 'allow_once' },
];
export const permission = (toolCallId, kind = 'execute', more = {}) =>
  ask('session/request_permission', {
    toolCall: { toolCallId, title: `do ${toolCallId}`, kind, ...more },
    options: OPTIONS,
  });
