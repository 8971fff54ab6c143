import * as z from 'zod';
import type { Caller } from '../src/core/call.ts';
import type { ActionPorts } from '../src/core/ports/index.ts';
import {
  type ExecutionRun,
  RUN_INTENTS,
  RUN_STATUSES,
  RUN_TARGETS,
  type RunIntent,
} from '../src/core/run.ts';
import type { ActionData } from '../src/core/spec.ts';
import { waitSeconds } from '../src/core/wait.ts';
import { failureReason, permissionMode, sessionHint, sessionId, time } from './_shapes.ts';

/** Shapes and the one way to start that the actions about execution runs share. */

export const runId = z.string().min(1).max(64).describe('Run id.');

/** Holds a run to a session: an agent reaches the runs of its own session and of those below it. */
export const runSession = sessionId.describe(
  'Only if the run belongs to this session or to one below it. Default for an agent: its own session.',
);

export const intent = z
  .enum(RUN_INTENTS)
  .describe('review (findings), plan (steps and risks), delegate (does the work) or voice_agent (talks).');

const backendTarget = z
  .object({
    kind: z.enum(RUN_TARGETS).describe('builtInAgent: comes with Kaiwu. acpBackend: somebody added it.'),
    agentId: z.string().min(1).max(64).describe('Agent id.'),
  })
  .describe('The agent that does it.');

const wantedTarget = backendTarget
  .partial({ kind: true })
  .describe("The agent that does it; kind may be left out. Default: the session's own.");

/** Seconds that a run may take: a day. */
const LONGEST_RUN_SECONDS = 86_400;
const DEFAULT_RUN_SECONDS = 1800;

const startFields = {
  sessionId: sessionId.optional(),
  backendTarget: wantedTarget.optional(),
  backendTargets: z
    .array(wantedTarget)
    .min(1)
    .max(8)
    .optional()
    .describe('In its place: several agents, one run each.'),
  instructions: z.string().trim().min(1).max(200_000).describe('What the agent is to do.'),
  modelId: z.string().min(1).max(200).optional().describe("Model. Default: the agent's own."),
  permissionMode: permissionMode
    .optional()
    .describe("What it may do unasked. Default: read_only; for delegate the session's own."),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(LONGEST_RUN_SECONDS)
    .default(DEFAULT_RUN_SECONDS)
    .describe('A run that works longer is stopped. Default 1800.'),
  waitForCompletion: z.boolean().default(false).describe('Answer when it is over.'),
};

const worktree = {
  worktree: z.boolean().optional().describe('delegate only: work in a new git worktree.'),
};

type StartInput = z.output<z.ZodObject<typeof startFields>> & { worktree?: boolean };

/** One agent or several, not both; none means the session's own. */
const oneOrSeveral = {
  check: (input: Pick<StartInput, 'backendTarget' | 'backendTargets'>) =>
    input.backendTarget === undefined || input.backendTargets === undefined,
  problem: { path: ['backendTarget'], message: 'is given in place of backendTargets, not beside it' },
};

export const startInput = z
  .object({ intent, ...startFields, ...worktree })
  .refine(oneOrSeveral.check, oneOrSeveral.problem);
export const shortcutInput = z.object(startFields).refine(oneOrSeveral.check, oneOrSeveral.problem);
export const delegateInput = z
  .object({ ...startFields, ...worktree })
  .refine(oneOrSeveral.check, oneOrSeveral.problem);

export const status = z.enum(RUN_STATUSES).describe('State of the run.');

const outcome = {
  result: z.looseObject({}).optional().describe("Result in the intent's shape."),
  resultProblem: z.string().optional().describe("Where the agent's words stray from that shape."),
  rawText: z.string().optional().describe('Those words, as they are.'),
  reason: failureReason.optional(),
};

/** Characters of the instructions in a list. */
const SHORT = 200;

/** What a change of a run answers. */
export const runBrief = z.object({ runId, status, ...outcome });

/** A run, whole. */
export const run = z.object({
  runId,
  sessionId: z.string().describe('Session that it belongs to.'),
  intent,
  status,
  backendTarget,
  instructions: z.string().describe('What the agent is to do.'),
  modelId: z.string().optional().describe('Model that was asked for.'),
  permissionMode,
  worktree: z.boolean().optional().describe('A git worktree was asked for.'),
  promptVersion: z.int().describe("Version of the intent's prompt that it was given."),
  runSessionId: z.string().optional().describe('Its own session, once that is there: read its transcript.'),
  timeoutSeconds: z.int().describe('Seconds that it may work.'),
  createdAt: time('When it was asked for'),
  startedAt: time('When its work began').optional(),
  endedAt: time('When it was over').optional(),
  ...outcome,
});

/** A run in a list: what it came to is read one by one. */
export const runRow = run.omit({ result: true, rawText: true }).extend({
  instructions: z.string().describe(`Beginning of what the agent is to do, ${SHORT} characters.`),
});

export const toRow = ({ instructions, ...rest }: ExecutionRun): z.input<typeof runRow> => ({
  ...rest,
  instructions: instructions.length > SHORT ? `${instructions.slice(0, SHORT)}…` : instructions,
});

export const startOutput = z.object({
  runs: z.array(runBrief.extend({ backendTarget })).describe('The runs, in the order of the targets.'),
  runId: z.string().optional().describe('Of the only run.'),
  status: status.optional(),
  result: outcome.result,
  reason: failureReason.optional().describe('Why the only run failed.'),
  timedOut: z.boolean().optional().describe('The wait ended before every run was over; they go on.'),
});

/** What every start has in common but for the name. */
export const startData: Pick<
  ActionData,
  'effect' | 'idempotent' | 'openWorld' | 'approvals' | 'session' | 'hints' | 'columns' | 'failure' | 'errors'
> = {
  effect: 'write',
  idempotent: false,
  openWorld: true,
  approvals: 'default',
  session: { need: 'required', field: 'sessionId' },
  hints: {
    sessionId: sessionHint,
    instructions: { label: 'Instructions', widget: 'multiline' },
    backendTarget: { label: 'Agent', widget: 'json', shorthand: 'agentId', flag: 'agent' },
    backendTargets: { label: 'Agents', widget: 'json', shorthand: 'agentId' },
  },
  columns: [
    { label: 'id', of: ['runId'] },
    'status',
    { label: 'agent', of: ['backendTarget.agentId'] },
    {
      label: 'what',
      of: ['result.summary', 'result.spoken', 'reason.message', 'resultProblem', 'rawText'],
      whole: true,
      every: true,
    },
  ],
  failure: 'reason',
  errors: [
    'session_not_selected',
    'session_not_found',
    'session_ambiguous',
    'session_archived',
    'permission_escalation_denied',
    'rate_limited',
    'invalid_input',
    'canceled',
  ],
};

/** Starts one run a target and, where asked to, waits for all of them. */
export async function startRuns(
  intent: RunIntent,
  input: StartInput,
  { caller, ports, signal }: { caller: Caller; ports: ActionPorts; signal: AbortSignal },
): Promise<z.input<typeof startOutput>> {
  const { sessionId, backendTarget, backendTargets, waitForCompletion, ...rest } = input;
  const targets = backendTargets ?? (backendTarget === undefined ? [] : [backendTarget]);
  const started = await ports.runs.start(
    { ...rest, sessionId: sessionId!, intent, backendTargets: targets },
    caller,
  );
  if (!waitForCompletion) return toAnswer(started);
  const seconds = waitSeconds(input.timeoutSeconds, caller);
  const ended = await Promise.all(started.map(({ runId }) => ports.runs.wait({ runId }, seconds, signal)));
  const runs = ended.map(({ run }) => run);
  return ended.every(({ settled }) => settled) ? toAnswer(runs) : { ...toAnswer(runs), timedOut: true };
}

function toAnswer(runs: ExecutionRun[]): z.input<typeof startOutput> {
  const [only, ...others] = runs;
  if (only === undefined || others.length > 0) return { runs };
  const { runId, status, result, reason } = only;
  return {
    runs,
    runId,
    status,
    ...(result === undefined ? {} : { result }),
    ...(reason === undefined ? {} : { reason }),
  };
}
