import { describe, expect, it } from 'vitest';
import { toPolicyChange, toRemoval } from '../../src/core/policy-path.ts';

const change = (path: string, value: string) => toPolicyChange({ path, value });

describe('one rule by its path', () => {
  it.each([
    ['session.archive.mcp', 'ask', { 'session.archive': { mcp: { approval: true } } }],
    ['session.archive.mcp', 'run', { 'session.archive': { mcp: { approval: false } } }],
    ['session.*.mcp', 'discoverable', { 'session.*': { mcp: { exposure: 'discoverable' } } }],
    ['session.archive.mcp.enabled', 'false', { 'session.archive': { mcp: { enabled: false } } }],
    ['session.archive.agent', 'deny', { 'session.archive': { agent: { enabled: false } } }],
    ['approvals.selfDecision.mcp', 'allow', { 'approvals.selfDecision': { mcp: { enabled: true } } }],
  ])('%s %s', (path, value, patch) => {
    expect(change(path, value)).toEqual(patch);
  });

  it.each([
    ['session.archive', 'ask', /names no surface/],
    ['mcp', 'ask', /not a path/],
    ['session.archive.enabled', 'true', /not a path/],
    ['session.archive.mcp', 'constructor', /takes allow, deny, ask, run, direct, discoverable/],
    ['session.archive.mcp.approval', 'yes', /takes true, false/],
    ['session.archive.mcp.exposure', 'ask', /takes direct, discoverable/],
  ])('%s %s is refused', (path, value, message) => {
    expect(() => change(path, value)).toThrow(message);
  });

  it('is taken out whole, by surface or by setting', () => {
    const rules = { 'session.archive': { mcp: { approval: true, enabled: false }, cli: { enabled: false } } };
    expect(toRemoval('session.archive', rules)).toEqual({ 'session.archive': null });
    expect(toRemoval('session.archive.cli', rules)).toEqual({ 'session.archive': { cli: null } });
    expect(toRemoval('session.archive.mcp.approval', rules)).toEqual({
      'session.archive': { mcp: { approval: undefined, enabled: false } },
    });
    expect(() => toRemoval('session.stop', rules)).toThrow(/rules: session.archive/);
    expect(() => toRemoval('session.archive.voice', rules)).toThrow(/is not in the policy/);
  });
});
