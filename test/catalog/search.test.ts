import { describe, expect, it } from 'vitest';
import { registry } from '../../src/app/registry.generated.ts';
import { createCatalog } from '../../src/core/catalog.ts';
import { createActionSearch } from '../../src/core/search.ts';

const index = createActionSearch(createCatalog(registry).manifests);

/** What people type, and the action that they look for. */
const QUERIES: [string, string][] = [
  ['session.title.set', 'session.title.set'],
  ['session_title_set', 'session.title.set'],
  ['sessionTitleSet', 'session.title.set'],
  ['change_title', 'session.title.set'],
  ['rename a chat', 'session.title.set'],
  ['renam sesion', 'session.title.set'],
  ['给会话改个名字', 'session.title.set'],
  ['重命名', 'session.title.set'],
  ['start a new agent', 'session.spawn_new'],
  ['new chat', 'session.spawn_new'],
  ['launch claude', 'session.spawn_new'],
  ['新建会话', 'session.spawn_new'],
  ['send a prompt', 'session.message.send'],
  ['tell the agent to continue', 'session.message.send'],
  ['发消息', 'session.message.send'],
  ['kill it', 'session.stop'],
  ['停止会话', 'session.stop'],
  ['stop generating', 'session.interrupt'],
  ['中断', 'session.interrupt'],
  ['wait until done', 'session.wait.idle'],
  ['等待完成', 'session.wait.idle'],
  ['switch model', 'session.model.set'],
  ['switchs modle', 'session.model.set'],
  ['切换模型', 'session.model.set'],
  ['read only mode', 'session.permission_mode.set'],
  ['yolo', 'session.permission_mode.set'],
  ['权限模式', 'session.permission_mode.set'],
  ['conversation history', 'session.transcript.get'],
  ['what happened in a session', 'session.transcript.get'],
  ['grep transcripts', 'session.transcript.search'],
  ['restore archived session', 'session.unarchive'],
  ['归档', 'session.archive'],
  ['which computers are online', 'machines.list'],
  ['机器', 'machines.list'],
  ['installed agents', 'agents.backends.list'],
  ['recent folders', 'paths.list_recent'],
  ['pending approvals', 'approval.request.list'],
  ['收件箱', 'approval.request.list'],
  ['approve request', 'approval.request.decide'],
  ['批准', 'approval.request.decide'],
  ['who did what', 'audit.list'],
  ['审计日志', 'audit.list'],
  ['why is it blocked', 'policy.explain'],
  ['require approval for an action', 'policy.set'],
  ['lost phone', 'device.revoke'],
  ['api key for a bot', 'token.create'],
  ['dropdown values', 'action.options.resolve'],
  ['parameters of an action', 'action.spec.get'],
];

const rankOf = ([query, wanted]: [string, string]): number =>
  index.search(query).findIndex(({ id }) => id === wanted) + 1;

describe('action search', () => {
  it('puts the right action first, or nearly', () => {
    const missed = QUERIES.filter((query) => rankOf(query) === 0 || rankOf(query) > 3).map(
      ([query]) => query,
    );
    expect(missed).toEqual([]);
    const first = QUERIES.filter((query) => rankOf(query) === 1).length;
    expect(first / QUERIES.length).toBeGreaterThanOrEqual(0.85);
  });

  it('every action is found by its own id in every spelling, and by its titles', () => {
    for (const { id, toolName, title } of createCatalog(registry).manifests) {
      const camel = id.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
      for (const query of [id, toolName, camel, title.en, title['zh-CN']]) {
        expect([query, index.search(query)[0]?.id]).toEqual([query, id]);
      }
    }
  });

  it('finds nothing for nonsense and bears any text', () => {
    expect(index.search('qqqqxxzz')).toEqual([]);
    for (const query of ['', '   ', '💥', '*'.repeat(10_000), '"(', '\u0000']) {
      expect(() => index.search(query)).not.toThrow();
    }
  });
});
