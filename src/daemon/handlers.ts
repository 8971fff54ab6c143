import { KaiwuError } from '../core/errors.ts';
import type { DaemonMethods } from '../core/link.ts';
import type { RpcHandlers } from '../core/rpc-peer.ts';
import type { AgentRegistry } from './agents/registry.ts';
import type { Files } from './files/files.ts';
import type { ManagedServers } from './managed/managed.ts';
import type { ManagedSession } from './session/session.ts';
import type { Sessions } from './session/sessions.ts';
import { checkMode } from './session/start-params.ts';

/** What the backend may ask of this daemon. */
export function createHandlers(options: {
  sessions: Sessions;
  files: Files;
  managed: Pick<ManagedServers, 'handlers'>;
  registry: Pick<AgentRegistry, 'list' | 'learnVersions'>;
  /** Resolves when the backend has the session's events, or cannot have them now. */
  flushed(sessionId: string): Promise<void>;
  isEnding(): boolean;
}): RpcHandlers<DaemonMethods> {
  const { sessions, registry, files } = options;

  /** The backend reads the session's row right after the answer, so the events that change it go first. */
  async function then<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await options.flushed(sessionId);
    }
  }

  const on = (sessionId: string, work: (session: ManagedSession) => Promise<void> | void) =>
    then(sessionId, async () => {
      await work(sessions.get(sessionId));
      return {};
    });

  return untilEnding(
    {
      'session.start': (params) =>
        then(params.sessionId, async () => {
          await sessions.start(params);
          return {};
        }),
      'session.deliver': async (params) => {
        sessions.deliver(params);
        return {};
      },
      'session.interrupt': ({ sessionId }) =>
        then(sessionId, async () => ({ interrupted: await sessions.get(sessionId).interrupt() })),
      'session.stop': ({ sessionId }) => on(sessionId, (session) => session.stop()),
      'session.archive': ({ sessionId }) => then(sessionId, () => sessions.archive(sessionId)),
      'session.set_mode': ({ sessionId, permissionMode }) =>
        on(sessionId, (session) => {
          checkMode(permissionMode);
          return session.setMode(permissionMode);
        }),
      'session.set_model': ({ sessionId, modelId }) => on(sessionId, (session) => session.setModel(modelId)),
      'session.set_config_option': ({ sessionId, configId, value }) =>
        on(sessionId, (session) => session.setConfigOption(configId, value)),
      'session.answer': ({ sessionId, requestId, optionId, by }) =>
        on(sessionId, (session) => session.answer(requestId, { kind: 'permission', optionId }, by)),
      'session.answer_question': ({ sessionId, requestId, answer, content, by }) =>
        on(sessionId, (session) => session.answer(requestId, { kind: 'question', answer, content }, by)),
      ...options.managed.handlers,
      'session.look_at_file': (params) => files.look(params),
      'session.read_text': (params) => files.readText(params),
      'session.send_file': (params) => then(params.sessionId, () => files.send(params)),
      'agents.list': async () => {
        void registry.learnVersions();
        return { agents: registry.list() };
      },
    },
    options.isEnding,
  );
}

/** A daemon on its way out begins nothing more: what it is asked comes again after the next start. */
function untilEnding(
  handlers: RpcHandlers<DaemonMethods>,
  isEnding: () => boolean,
): RpcHandlers<DaemonMethods> {
  const guarded = Object.entries(handlers).map(([method, handler]) => [
    method,
    async (params: never) => {
      if (isEnding()) throw new KaiwuError('machine_offline', 'The daemon of this machine is about to end.');
      return handler(params);
    },
  ]);
  return Object.fromEntries(guarded) as RpcHandlers<DaemonMethods>;
}
