import type { Caller } from '../call.ts';

/** Other actions, as the same caller could call them: found, judged by the policy, validated, held to the caller's session. */
export interface PipelinePort {
  /**
   * Calls an action that only reads.
   * @throws what the call itself would be refused with; action_disabled where the policy has it ask a person first
   */
  read(
    actionId: string,
    input: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
}
