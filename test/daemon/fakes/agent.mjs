// A badly behaved agent, one behaviour a name: `node agent.mjs BEHAVIOUR`. Raw JSON-RPC lines, no library.
//
// PROMPTS and `floods.mjs` have what each behaviour does with a message, `offers.mjs` what it offers (modes, models,
// settings). For every behaviour:
// - the messages `received`, `env` and `pid` are answered with what it was sent, its environment, its process id;
// - a message that is `!` and a JSON list of updates is answered with these updates as they are;
// - `?` and JSON asks that with `elicitation/create` and says the answer;
// - FAKE_CAPABILITIES is its `agentCapabilities` in JSON; session/load knows `fake`, session/fork answers `fake-fork`;
// - FAKE_STEERING is the outcome of its `_session/steering`, which it says it can where that is set;
// - FAKE_START_MS is how long it takes to answer `initialize`;
// - FAKE_SIGN_IN names a file: without it, `wants-sign-in` and `errors` find nobody signed in.
import { spawn } from 'node:child_process';
import { existsSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { FLOODS } from './floods.mjs';
import { createOffers } from './offers.mjs';
import { ask, fail, open, permission, raw, reply, say, send, update } from './wire.mjs';

const behaviour = process.argv[2] ?? '';
const received = [];
let signedIn = false;
const isSignedIn = () => signedIn || existsSync(process.env.FAKE_SIGN_IN ?? '/nowhere');

let onSteered = () => {};
const steered = new Promise((resolve) => (onSteered = resolve));
let canceled = () => {};
const whenCanceled = () => new Promise((resolve) => (canceled = resolve));
const forever = () => setInterval(() => {}, 1000);

const { capabilities, offers, setOption } = createOffers(behaviour);

const PROMPTS = {
  ...FLOODS,
  async 'long-option-ids'() {
    const long = (kind) => ({ optionId: kind.repeat(300), name: kind.repeat(600), kind });
    const toolCall = { toolCallId: 't1', title: 'do it', kind: 'execute' };
    const options = ['allow_once', 'reject_once'].map(long);
    const answer = await ask('session/request_permission', { toolCall, options });
    say(String(answer.result.outcome.optionId === options[0].optionId));
  },
  async noisy() {
    say('fine');
  },
  async bytes() {
    const text = '— 漢 🧑‍🚀 e\u0301';
    const line = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'fake', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } })}\n`,
    );
    for (const byte of line) {
      writeSync(1, Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Halves of one character in two messages.
    say('\ud83e');
    say('\uddd1');
  },
  async 'two-permissions'() {
    const both = Promise.all([permission('t1'), permission('t2')]);
    const outcomes = (await both).map((answer) => answer.result?.outcome ?? answer.error);
    received.push({ outcomes });
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 'cancelled';
  },
  async permits(text) {
    const call = text.startsWith('{') ? JSON.parse(text) : { kind: text };
    const answer = await permission('t1', call.kind, call);
    say(JSON.stringify(answer.result?.outcome));
  },
  async 'asks-twice'(text) {
    const outcomes = [await permission('t1'), await permission('t1')].map(({ result }) => result.outcome);
    say(JSON.stringify({ text, chosen: outcomes.map(({ outcome, optionId }) => optionId ?? outcome) }));
  },
  async 'asks-else'(text) {
    const rawInput = { file: 'f', text: text === 'go' ? 'one' : 'two', description: text };
    const { result } = await permission('t1', 'edit', { rawInput });
    say(`${result.outcome.optionId} ${rawInput.text}`);
  },
  async 'asks-both'(text) {
    const both = Promise.all([permission('t1'), ask('elicitation/create', JSON.parse(text))]);
    const edit = permission('t2', 'edit', { locations: [{ path: 'file' }] });
    say(JSON.stringify((await edit).result.outcome));
    for (const { result } of await both) say(` ${JSON.stringify(result)}`);
  },
  async 'talks-then-asks'(text) {
    say('before');
    await ask('elicitation/create', JSON.parse(text));
    say('after');
  },
  async 'dies-steered'(text) {
    if (text === 'go') await steered;
  },
  async 'steered-late'(text) {
    if (text === 'go') await steered;
  },
  async pauses(text) {
    say('one');
    await new Promise((resolve) => setTimeout(resolve, Number(text)));
    say('two');
  },
  async 'deaf-to-cancel'() {
    say('never ending');
    return new Promise(() => {});
  },
  async 'cancel-error'() {
    await whenCanceled();
    send({ id: null, error: { code: -32601, message: 'session/cancel is not supported' } });
    return 'cancelled';
  },
  async repeats() {
    for (let i = 0; i < 200; i += 1)
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 'same',
        title: 'Stuck',
        kind: 'execute',
        status: 'pending',
      });
    await whenCanceled();
    return 'cancelled';
  },
  async strange() {
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'early', status: 'in_progress' });
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'early',
      title: 'Late',
      kind: 'novel_kind',
      rawInput: { a: 1 },
    });
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'early',
      status: null,
      content: [{ type: 'content', content: { type: 'text', text: 'out' } }],
    });
    update({ sessionUpdate: 'hologram', shape: 'cube' });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'smell', of: 'roses' } });
    update({ sessionUpdate: 'plan', entries: [{ content: 'one', status: 'pending', priority: 'high' }] });
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } });
    say('done');
    update({ sessionUpdate: 'session_info_update', title: 'A title' });
    send({ id: 4242, result: 'an answer to nothing' });
    send({ id: 7, method: 'craft/unknown', params: {} });
    raw('plain text in between\n');
  },
  async raises() {
    update({ sessionUpdate: 'current_mode_update', currentModeId: 'three' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    say(
      JSON.stringify(
        received.filter(({ method }) => method === 'session/set_mode').map(({ params }) => params.modeId),
      ),
    );
  },
  async 'leaves-plan'() {
    await permission('t1', 'switch_mode');
    update({ sessionUpdate: 'current_mode_update', currentModeId: 'three' });
    say('left');
  },
  async dies() {
    say('some last words');
    process.stderr.write('it hurts\n');
    process.exit(9);
  },
  async 'repeats-on-stderr'(text) {
    process.stderr.write(text);
  },
  async 'talks-in-pieces'() {
    process.stderr.write('fish-99 and that is it');
  },
  async errors() {
    if (isSignedIn()) return say('signed in');
    throw { code: -32000, message: 'Authentication required', data: { details: 'no key' } };
  },
  async 'no-stop-reason'() {
    return undefined;
  },
};

/** What it says that it used, where a message of updates carries it. */
let usage;

async function onPrompt(id, params) {
  const text = params.prompt[0].text;
  try {
    if (text === 'received') say(JSON.stringify(received));
    else if (text === 'env') say(JSON.stringify(process.env));
    else if (text === 'pid') say(String(process.pid));
    else if (text.startsWith('!'))
      for (const one of JSON.parse(text.slice(1))) {
        if (one.usage !== undefined) usage = one.usage;
        else update(one);
      }
    else if (text.startsWith('?')) {
      const { result, error } = await ask('elicitation/create', JSON.parse(text.slice(1)));
      say(JSON.stringify(result ?? error));
    }
    const run = /^(received|env|pid|[!?].*)$/s.test(text) ? undefined : PROMPTS[behaviour];
    const stopReason = (await run?.(text)) ?? 'end_turn';
    reply(id, behaviour === 'no-stop-reason' ? {} : { stopReason, usage });
  } catch (error) {
    fail(id, error.code ?? -32603, error.message, error.data);
  }
}

function onMessage(message) {
  if (message.method === undefined) {
    open.get(message.id)?.(message);
    return undefined;
  }
  const { id, method, params } = message;
  received.push({ method, params });
  switch (method) {
    case 'initialize':
      return setTimeout(reply, Number(process.env.FAKE_START_MS ?? 0), id, {
        protocolVersion: behaviour === 'from-the-future' ? 99 : 1,
        agentCapabilities: capabilities,
        ...(process.env.FAKE_STEERING === undefined ? {} : { _meta: { steering: { supported: true } } }),
      });
    case 'authenticate':
      signedIn = params.methodId === 'key';
      return signedIn ? reply(id, {}) : fail(id, -32602, 'no such way');
    case 'session/load':
      for (let i = 0; i < 5; i += 1) say(`replayed ${i}`);
      return params.sessionId === 'fake' ? reply(id, offers) : fail(id, -32002, 'not found');
    case 'session/new':
      if (behaviour === 'wants-sign-in' && !isSignedIn()) return fail(id, -32000, 'Authentication required');
      if (behaviour === 'no-session-id') return reply(id, offers);
      return reply(id, { sessionId: behaviour === 'forgets' ? `fake-${process.pid}` : 'fake', ...offers });
    case 'session/fork':
      return reply(id, { sessionId: 'fake-fork', ...offers });
    case 'session/close':
      process.stderr.write(`closed ${params.sessionId}\n`);
      return behaviour === 'never-closes' ? undefined : reply(id, {});
    case 'session/prompt':
      return onPrompt(id, params);
    case '_session/steering':
      onSteered();
      if (behaviour === 'dies-steered') process.exit(9);
      if (behaviour !== 'steered-late') return reply(id, { outcome: process.env.FAKE_STEERING });
      return setTimeout(() => {
        reply(id, { outcome: 'injected' });
        update({ sessionUpdate: 'hologram', title: 'took it at last' });
      }, 6000);
    case 'session/cancel':
      return canceled();
    case 'session/set_config_option':
      return reply(id, { configOptions: setOption(params) });
    case 'session/set_mode':
    case 'session/set_model':
      if (params.modeId === 'two' && behaviour === 'stuck-mode') return fail(id, -32603, 'will not');
      if (params.modeId === 'one' && behaviour === 'never-goes-back') return undefined;
      return reply(id, {});
    default:
      return id === undefined ? undefined : fail(id, -32601, 'no such method');
  }
}

if (behaviour === 'silent') {
  process.stderr.write('warming up for ever\n');
  forever();
} else if (behaviour === 'exits') {
  process.stderr.write('no such model\n');
  process.exitCode = 3;
} else {
  if (behaviour === 'noisy') raw('Welcome to the shell\n\x1b]0;title\x07');
  if (behaviour === 'stubborn') {
    process.on('SIGTERM', () => {});
    forever();
    spawn('/bin/sh', ['-c', `trap '' TERM HUP; while :; do sleep 1; done`], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  }
  if (behaviour === 'talks-on-stderr') process.stderr.write(`key is ${process.env.ANTHROPIC_API_KEY} — 漢\n`);
  if (behaviour === 'talks-in-pieces') process.stderr.write('key is sword');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => onMessage(JSON.parse(line)));
  if (behaviour === 'ends-late') {
    lines.on('close', () => writeSync(2, 'input ended\n'));
    process.on('SIGTERM', () => {
      writeSync(2, 'asked to end\n');
      process.exit(0);
    });
    forever();
  } else if (behaviour !== 'stubborn') lines.on('close', () => process.exit(0));
}
