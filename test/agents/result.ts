export type Verdict = 'passed' | 'failed' | 'skipped';

/** What one step of the scenario found. */
export interface StepResult {
  step: string;
  verdict: Verdict;
  /** Why it failed or was skipped. */
  reason?: string;
  /** Milliseconds. */
  ms?: number;
}

export interface AgentResult {
  agentId: string;
  package: string;
  version: string;
  verdict: Verdict;
  reason?: string;
  steps: StepResult[];
}

/** What the whole suite found; kept beside it, so that the page of agents can be made again. */
export interface SuiteResult {
  node: string;
  platform: string;
  agents: AgentResult[];
}

/** A step that cannot be asked of this agent ends by throwing it. */
export class Skip extends Error {
  override name = 'Skip';
}

export const countOf = (agents: AgentResult[], verdict: Verdict): number =>
  agents.flatMap(({ steps }) => steps).filter((step) => step.verdict === verdict).length;

/** An agent passes when no step failed, and counts as skipped where none could be tried. */
export function verdictOf(steps: StepResult[]): Verdict {
  if (steps.some(({ verdict }) => verdict === 'failed')) return 'failed';
  return steps.some(({ verdict }) => verdict === 'passed') ? 'passed' : 'skipped';
}
