import * as z from 'zod';
import { APPROVAL_STATUSES } from '../src/core/approval.ts';
import { TOKEN_KINDS } from '../src/core/call.ts';
import { EXPOSURES, SURFACES } from '../src/core/spec.ts';
import { time } from './_shapes.ts';

/** Shapes of policy, approvals, grants and identity. */

export const surface = z.enum(SURFACES).describe('Where calls come from: app, cli, mcp, agent or voice.');

export const exposure = z.enum(EXPOSURES).describe('direct (a tool or command of its own) or discoverable.');

const answered = <T extends z.ZodType>(value: T, what: string) =>
  z.object({
    value: value.describe(what),
    from: z
      .string()
      .describe(
        "Rule that decided: a policy key, spec (the action's default) or floor (no rule changes it).",
      ),
  });

export const policyAnswer = z.object({
  surface,
  supported: z.boolean().describe('Whether the action exists on this surface at all.'),
  enabled: answered(z.boolean(), 'Whether it may be called.').describe('Enablement.'),
  approval: answered(z.boolean(), 'Whether a call asks first.').describe('Approval.'),
  exposure: answered(exposure, 'How it is offered.').describe('Exposure.'),
  outcome: z.enum(['runs', 'asks', 'refused']).describe('What a call would do now.'),
  reason: z.string().optional().describe('Why it would be refused.'),
});

const surfaceRule = z
  .object({
    enabled: z.boolean().optional().describe('May be called.'),
    approval: z.boolean().optional().describe('Asks first.'),
    exposure: exposure.optional(),
  })
  .describe('What the rule says of one surface.');

/** As `surfaceRule`, for a change: an unknown setting is refused, since a misspelt one would gate nothing. */
const surfaceChange = surfaceRule.strict();

export const ruleChanges = z
  .record(z.string().min(1).max(120), z.record(z.string(), surfaceChange.nullable()).nullable())
  .describe('Rules by action id or family (session.*), then by surface; null removes a rule.');

export const rules = z
  .record(z.string(), z.record(z.string(), surfaceRule))
  .describe('Rules by action id or family (session.*), then by surface.');

/** Rules of a whole document that is handed in, as strict as changes are. */
export const givenRules = z
  .record(z.string().min(1).max(120), z.record(z.string(), surfaceChange))
  .describe('Rules by action id or family (session.*), then by surface.');

export const approvalStatus = z
  .enum(APPROVAL_STATUSES)
  .describe('pending, approved, executing, succeeded, failed, unknown, denied, expired or canceled.');

export const approval = z.object({
  kind: z
    .enum(['approval_request_created'])
    .default('approval_request_created')
    .describe('Always approval_request_created.'),
  artifactId: z.string().describe('Id of the request, a UUID.'),
  actionId: z.string().describe('Action that would run.'),
  summary: z.string().describe('What would run, in one line.'),
  status: approvalStatus,
  input: z.looseObject({}).describe('The very input that would run.'),
  requester: z
    .object({
      surface,
      client: z.string().describe('Client as it named itself.'),
    })
    .describe('Who asked.'),
  sessionId: z.string().optional().describe('Session that it works on.'),
  confirmation: z
    .object({ words: z.string().describe('What was said to the person, whose yes runs it.') })
    .optional()
    .describe('Set where a voice read it back and waits for a yes.'),
  reason: z.string().optional().describe("The requester's reason."),
  createdAt: time('When it was asked'),
  expiresAt: time('When it expires'),
  decidedAt: time('When it was decided').optional(),
  decidedBy: z.string().optional().describe('Surface and client that decided.'),
  decisionReason: z.string().optional().describe("The decider's reason."),
  result: z.looseObject({}).optional().describe('Envelope of the execution, once it ran.'),
  count: z.int().describe('How often the same was asked for while it was pending.'),
  policyVersion: z.int().optional().describe('Version of the policy when it was decided.'),
  nearestGrant: z
    .object({
      grantId: z.string().describe('Grant that came nearest.'),
      reason: z.string().describe('Why it does not cover the request.'),
    })
    .optional()
    .describe('Grant that would almost have let it run.'),
});

export const artifactId = z.string().min(1).max(64).describe('Id of the approval request, a UUID.');

export const scope = z.object({
  surfaces: z.array(z.enum(SURFACES)).optional().describe('Surfaces that the token may speak for.'),
  actions: z.array(z.string()).optional().describe('Action ids or families that it may call.'),
  sessionId: z.string().optional().describe('The one session that it is good for.'),
});

export const token = z.object({
  tokenId: z.string().describe('Id to revoke it by.'),
  name: z.string().describe('Name for people.'),
  kind: z.enum(TOKEN_KINDS).describe('What it is for.'),
  scope: scope.describe('What it may do at most; absent means no limit of that kind.'),
  createdAt: time('When it was made'),
  expiresAt: time('When it ends').optional(),
  lastUsedAt: time('When it was last used').optional(),
  revokedAt: time('When it was revoked').optional(),
});

export const device = z.object({
  deviceId: z.string().describe('Id to revoke it by.'),
  name: z.string().describe('Name for people.'),
  createdAt: time('When it signed in'),
  passkeyId: z.string().optional().describe('Passkey that signed it in.'),
  lastUsedAt: time('When it last called').optional(),
  revokedAt: time('When it was revoked').optional(),
  current: z.boolean().describe('Whether this very call comes from it.'),
});

export const policySettings = z
  .object({
    maxPendingApprovals: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe('Most requests that one caller may have pending. Default 20.'),
    approvalHours: z
      .number()
      .min(0.01)
      .max(720)
      .optional()
      .describe('Hours that a request waits for a decision. Default 24.'),
  })
  .describe('Settings of approvals; absent ones have their defaults.');

export const policyDocument = z.object({
  version: z.int().describe('Version of the document.'),
  rules,
  settings: policySettings.optional(),
});

const replayed = (what: string) =>
  z
    .object({
      count: z.int().describe('Calls.'),
      examples: z
        .array(
          z.object({
            at: z.string().describe('When, RFC 3339.'),
            actionId: z.string().describe('Action.'),
            surface: z.string().describe('Where it came from.'),
            client: z.string().describe('Who called.'),
          }),
        )
        .describe('Some of them, newest first.'),
    })
    .describe(what);

export const preview = z
  .object({
    calls: z.int().describe('Calls that were replayed.'),
    complete: z.boolean().describe('Whether all calls of the time were replayed, or only the newest ones.'),
    newlyRefused: replayed('Calls that would be refused now.'),
    newlyAsking: replayed('Calls that would ask first now.'),
    newlyUnattended: replayed('Changes that would run now without a person having agreed.'),
  })
  .describe('What the change would have done to past calls.');

export const grant = z.object({
  grantId: z.string().describe('Id to revoke it by.'),
  artifactId: z.string().describe('Approval that it was made from.'),
  actionId: z.string().describe('Action that may run.'),
  surface,
  machineId: z.string().optional().describe('The one machine that calls may come from.'),
  pins: z.looseObject({}).describe('Fields that are held, and to what.'),
  createdAt: time('When it was given'),
  createdBy: z.string().describe('Who gave it.'),
  expiresAt: time('When it ends'),
  uses: z.int().describe('How often it may be used in all.'),
  usesLeft: z.int().describe('How often it may still be used.'),
  revokedAt: time('When it was revoked').optional(),
});
