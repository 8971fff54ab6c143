import type { ActionData } from '../src/core/spec.ts';

type Surfaces = ActionData['surfaces'];

const direct = { exposure: 'direct' } as const;
const discoverable = { exposure: 'discoverable' } as const;
const asks = { exposure: 'discoverable', approval: true } as const;
const locked = { exposure: 'discoverable', exposureLocked: true } as const;

/** What people do all day: a tool and a command of its own; inside a session found by search. */
export const EVERYDAY: Surfaces = {
  app: direct,
  cli: direct,
  mcp: direct,
  agent: discoverable,
  voice: discoverable,
};

/** Near relatives of an everyday action: people have commands for them, everybody else finds them by search. */
export const RELATED: Surfaces = {
  app: direct,
  cli: direct,
  mcp: discoverable,
  agent: discoverable,
  voice: discoverable,
};

/** How a caller finds and reaches everything else: direct on every surface. */
export const DISCOVERY: Surfaces = { app: direct, cli: direct, mcp: direct, agent: direct, voice: direct };

/** Seldom needed looks into the account: no tool of its own for hosts, nothing for agents and voices. */
export const INSIGHT: Surfaces = { app: direct, cli: direct, mcp: discoverable };

/** Changes what may run or who may call: a host asks first, agents and voices never get it. */
export const GOVERNANCE: Surfaces = { app: direct, cli: direct, mcp: asks };

/** Watching over agents, by hand, by voice or through a host; never an agent, neither over itself nor over another. */
export const SUPERVISION: Surfaces = { ...INSIGHT, voice: discoverable };

/** Requests for approval: never a tool of their own, whatever the policy says. */
export const APPROVALS: Surfaces = { app: direct, cli: direct, mcp: locked, agent: locked, voice: locked };

/** Deciding approvals: as above, but never an agent or a voice. */
export const DECISIONS: Surfaces = { app: direct, cli: direct, mcp: locked };

/** What only a person does, in the app or with the command line. */
export const PERSONAL: Surfaces = { app: direct, cli: direct };
