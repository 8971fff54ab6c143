import { describe, expect, it } from 'vitest';
import type { PolicyDocument } from '../../src/core/policy.ts';
import { applyPatch, EMPTY_POLICY, resolvePolicy, toPolicyPatch } from '../../src/core/policy.ts';
import type { ActionData } from '../../src/core/spec.ts';

const spec = (changes: Partial<ActionData> = {}): ActionData => ({
  id: 'thing.part.change',
  title: { en: 'Change', 'zh-CN': '修改' },
  summary: 'Use to change.',
  effect: 'write',
  idempotent: true,
  openWorld: false,
  surfaces: { cli: { exposure: 'direct' }, mcp: { exposure: 'direct' }, agent: { exposure: 'discoverable' } },
  approvals: 'default',
  session: 'none',
  keywords: { en: [], 'zh-CN': [] },
  examples: [],
  errors: [],
  ...changes,
});

const rules = (given: PolicyDocument['rules']): PolicyDocument => ({ version: 1, rules: given });

describe('resolving the policy', () => {
  it('answers from the spec where no rule speaks', () => {
    expect(resolvePolicy(EMPTY_POLICY, spec(), 'mcp')).toEqual({
      surface: 'mcp',
      supported: true,
      enabled: { value: true, from: 'spec' },
      approval: { value: false, from: 'spec' },
      exposure: { value: 'direct', from: 'spec' },
      outcome: 'runs',
    });
  });

  it('prefers the exact id to the nearer family to the wider one, for each answer by itself', () => {
    const policy = rules({
      'thing.*': { mcp: { approval: false, exposure: 'discoverable', enabled: true } },
      'thing.part.*': { mcp: { approval: true } },
      'thing.part.change': { mcp: { exposure: 'direct' } },
    });
    const answer = resolvePolicy(policy, spec(), 'mcp');
    expect(answer.approval).toEqual({ value: true, from: 'thing.part.*' });
    expect(answer.exposure).toEqual({ value: 'direct', from: 'thing.part.change' });
    expect(answer.enabled).toEqual({ value: true, from: 'thing.*' });
    expect(answer.outcome).toBe('asks');
  });

  it('lets a ban at any level beat all', () => {
    const policy = rules({
      'thing.*': { mcp: { enabled: false } },
      'thing.part.change': { mcp: { enabled: true } },
    });
    const answer = resolvePolicy(policy, spec(), 'mcp');
    expect(answer).toMatchObject({
      outcome: 'refused',
      reason: 'disabled_by_policy',
      enabled: { from: 'thing.*' },
    });
    expect(resolvePolicy(policy, spec(), 'cli').outcome).toBe('runs');
  });

  it('never adds a surface that the spec lacks', () => {
    const policy = rules({ 'thing.part.change': { voice: { enabled: true, exposure: 'direct' } } });
    expect(resolvePolicy(policy, spec(), 'voice')).toMatchObject({
      supported: false,
      outcome: 'refused',
      reason: 'unsupported_surface',
    });
  });

  it('keeps floors: what always asks, what never asks, what is never a tool', () => {
    const open = rules({
      'thing.*': { agent: { approval: false }, mcp: { approval: true, exposure: 'direct' } },
    });
    const asking = spec({ approvals: { always: ['agent'] } });
    expect(resolvePolicy(open, asking, 'agent').approval).toEqual({ value: true, from: 'floor' });
    expect(resolvePolicy(open, spec({ approvals: 'never' }), 'mcp').approval).toEqual({
      value: false,
      from: 'floor',
    });
    const hidden = spec({ surfaces: { mcp: { exposure: 'discoverable', exposureLocked: true } } });
    expect(resolvePolicy(open, hidden, 'mcp').exposure).toEqual({ value: 'discoverable', from: 'floor' });
  });

  it('narrows by the scope of a token', () => {
    const answer = resolvePolicy(EMPTY_POLICY, spec(), 'mcp', { actions: ['other.*'] });
    expect(answer).toMatchObject({ outcome: 'refused', reason: 'outside_token_scope' });
    expect(resolvePolicy(EMPTY_POLICY, spec(), 'mcp', { actions: ['thing.*'] }).outcome).toBe('runs');
    expect(resolvePolicy(EMPTY_POLICY, spec(), 'mcp', { actions: ['thing.part.change'] }).outcome).toBe(
      'runs',
    );
    expect(resolvePolicy(EMPTY_POLICY, spec(), 'mcp', { actions: ['thing'] }).outcome).toBe('refused');
  });
});

describe('changing the policy', () => {
  it('merges field by field, removes by null, keeps what it does not know', () => {
    const before = rules({
      'a.b': { mcp: { approval: true }, cli: { enabled: false } },
      'future.thing': { cli: { enabled: true } },
    });
    const after = applyPatch(before, { 'a.b': { mcp: { exposure: 'direct' }, cli: null } });
    expect(after).toEqual({
      version: 2,
      rules: {
        'a.b': { mcp: { approval: true, exposure: 'direct' } },
        'future.thing': { cli: { enabled: true } },
      },
    });
    expect(applyPatch(after, { 'a.b': null }).rules).toEqual({ 'future.thing': { cli: { enabled: true } } });
    expect(before.rules['a.b']?.cli).toEqual({ enabled: false });
  });

  it('refuses a surface that does not exist, by name', () => {
    expect(() => toPolicyPatch({ 'a.b': { mpc: { enabled: false } } })).toThrow(
      /"mpc".*app, cli, mcp, agent, voice/,
    );
  });
});
