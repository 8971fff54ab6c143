import type { Caller } from '../call.ts';
import type { ActionRule, PolicyDocument, PolicyPatch } from '../policy.ts';

export interface Replayed {
  count: number;
  /** Newest first, five at most. */
  examples: { at: string; actionId: string; surface: string; client: string }[];
}

/** What a draft of the policy would have done to the calls of the last days. */
export interface Preview {
  calls: number;
  /** False where there were more calls than are replayed. */
  complete: boolean;
  newlyRefused: Replayed;
  newlyAsking: Replayed;
  /** Changes (writes and what destroys) that would run without a person having agreed. */
  newlyUnattended: Replayed;
}

/** Changes of the policy, tried on the past first. Source: core, over the audit log. */
export interface PreviewsPort {
  /** Either changes or a whole document. @throws invalid_input */
  preview(draft: {
    rules?: PolicyPatch;
    document?: { rules: Record<string, ActionRule> };
    days: number;
  }): Promise<Preview>;
  /**
   * Replaces the document by compare-and-set.
   * @throws conflict (made from an older version) | confirmation_required (writes would newly run unattended)
   */
  replace(
    request: {
      document: Pick<PolicyDocument, 'version' | 'rules' | 'settings'>;
      confirmUnattended: boolean;
      days: number;
    },
    caller: Caller,
  ): Promise<PolicyDocument & { preview: Preview }>;
}
