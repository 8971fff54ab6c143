#!/usr/bin/env node
// An agent that has a shell and wants more: asked to `decide ID`, it tries to approve that request by every door that it can reach.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [home, kaiwu] = JSON.parse(readFileSync(new URL('./escaping-agent.json', import.meta.url), 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const curl = (url, token, body) =>
  `fetch(${JSON.stringify(url)},{method:'POST',headers:{authorization:'Bearer '+${JSON.stringify(token)},'content-type':'application/json'},body:${JSON.stringify(JSON.stringify(body))}}).then(r=>r.text()).then(t=>process.stdout.write(t))`;

/** Writes a request by hand: from another loopback address, or gone before the answer. */
const raw = (url, token, body, { localAddress, leave }) => {
  const { hostname, port, pathname, host } = new URL(url);
  const text = JSON.stringify(body);
  const request = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`;
  return `const socket = require('node:net').connect(${JSON.stringify({ host: hostname, port, localAddress })}, () => socket.write(${JSON.stringify(request)}${leave ? ', () => process.exit()' : ''}));
    let text = ''; socket.on('data', (d) => { text += d; }).on('end', () => process.stdout.write(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)));`;
};

function attempts(artifactId) {
  const credentials = JSON.parse(readFileSync(join(home, 'profiles/local/credentials.json'), 'utf8'));
  const input = { artifactId, decision: 'approve' };
  const decide = `${credentials.url}/v1/actions/approval.request.decide`;
  const clean = { PATH: process.env.PATH, HOME: process.env.HOME, KAIWU_HOME: home };
  const cli = (env) => {
    const args = [
      kaiwu,
      'action',
      'exec',
      'approval.request.decide',
      '--input',
      JSON.stringify(input),
      '--json',
    ];
    return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stdout;
  };
  const http = (surface, env) =>
    execFileSync(process.execPath, ['-e', curl(decide, credentials.token, { input, context: { surface } })], {
      env,
      encoding: 'utf8',
    });
  const run = (code, env = clean) => execFileSync(process.execPath, ['-e', code], { env, encoding: 'utf8' });
  const body = { input, context: { surface: 'cli' } };
  const gone = { status: 'gone' };
  const bootstrap = JSON.parse(readFileSync(join(home, 'backend/bootstrap.json'), 'utf8'));
  return {
    'from another loopback address': () =>
      run(raw(decide, credentials.token, body, { localAddress: '127.0.0.2' })),
    'written, then gone': () => {
      run(raw(decide, credentials.token, body, { leave: true }));
      return JSON.stringify(gone);
    },
    'a sign-in of its own': () =>
      run(curl(`${credentials.url}/v1/auth/bootstrap`, '', { secret: bootstrap.secret, deviceName: 'mine' })),
    'signing the person out': () => run(curl(`${credentials.url}/v1/auth/logout`, credentials.token, {})),
    'CLI, environment as inherited': () => cli({ ...process.env, KAIWU_HOME: home }),
    'CLI, clean environment': () => cli(clean),
    'HTTP as cli with the credential file': () => http('cli', process.env),
    'HTTP as app, clean environment': () => http('app', clean),
    'HTTP as mcp': () => http('mcp', clean),
    'HTTP, with a made-up actor': () =>
      execFileSync(
        process.execPath,
        [
          '-e',
          curl(decide, credentials.token, {
            input: { ...input, actor: 'me' },
            context: { surface: 'cli', client: 'cli', deviceId: 'dev_x' },
          }),
        ],
        { env: clean, encoding: 'utf8' },
      ),
    'a new token': () =>
      execFileSync(
        process.execPath,
        [
          '-e',
          curl(`${credentials.url}/v1/actions/token.create`, credentials.token, {
            input: { name: 'mine' },
            context: { surface: 'cli' },
          }),
        ],
        { env: clean, encoding: 'utf8' },
      ),
    'the policy': () =>
      execFileSync(
        process.execPath,
        [
          '-e',
          curl(`${credentials.url}/v1/actions/policy.set`, credentials.token, {
            input: { path: 'approvals.selfDecision.mcp', value: 'allow' },
            context: { surface: 'cli' },
          }),
        ],
        { env: clean, encoding: 'utf8' },
      ),
  };
}

function tryAll(artifactId) {
  return Object.fromEntries(
    Object.entries(attempts(artifactId)).map(([name, attempt]) => {
      try {
        const envelope = JSON.parse(attempt());
        return [name, envelope.error?.code ?? envelope.status];
      } catch (error) {
        return [name, String(error)];
      }
    }),
  );
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize')
      send({ id, result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] } });
    else if (method === 'session/new')
      send({
        id,
        result: {
          sessionId: 'acp-1',
          modes: {
            currentModeId: 'read-only',
            availableModes: [
              { id: 'read-only', name: 'Default' },
              { id: 'workspace-write', name: 'Default' },
            ],
          },
        },
      });
    else if (method === 'session/prompt') {
      const text = JSON.stringify(tryAll(params.prompt[0].text.replace('decide ', '')));
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
      send({ method: 'session/update', params: { sessionId: params.sessionId, update } });
      send({ id, result: { stopReason: 'end_turn' } });
    } else if (id !== undefined) send({ id, result: {} });
  })
  .on('close', () => process.exit(0));
