import { fromWireError, KaiwuError } from './errors.ts';
import type { Executor } from './executor.ts';
import type { PipelinePort } from './ports/pipeline.ts';

export function createPipeline({ check, perform }: Pick<Executor, 'check' | 'perform'>): PipelinePort {
  return {
    async read(actionId, raw, caller, signal) {
      const { action, input, approval } = await check(caller, actionId, raw);
      if (action.effect !== 'read') throw new Error(`${actionId} is ${action.effect}, and is read from here`);
      if (approval.value) throw asksFirst(action.id, caller.surface);
      const envelope = await perform(action, input, caller, signal);
      if (envelope.status === 'ok') return envelope.output;
      throw envelope.status === 'error'
        ? fromWireError(envelope.error)
        : asksFirst(action.id, caller.surface);
    },
  };
}

const asksFirst = (actionId: string, surface: string) =>
  new KaiwuError(
    'action_disabled',
    `${actionId} asks a person first on surface ${surface}, so it is not read on the way.`,
    {
      hint: `Call ${actionId} itself.`,
      details: { actionId, surface, reason: 'asks_first' },
    },
  );
