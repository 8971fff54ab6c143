import type { SessionEventBody } from '../../core/session.ts';
import type { AgentListener } from '../acp/agent-session.ts';
import type { AgentSlot } from './agent-slot.ts';
import { toBoundedConfig, toModelChanged } from './bounded.ts';
import type { SessionContext } from './context.ts';
import { createModeKeeper } from './mode-keeper.ts';
import type { SessionControls } from './session-controls.ts';
import { toLateEvents } from './transcript.ts';
import type { Turn } from './turn.ts';

/** Hears what the agent of a session says and hands it to the turn that runs, or stores it where none does. */
export function createSessionListener(options: {
  context: SessionContext;
  sessionId: string;
  append(...events: SessionEventBody[]): void;
  turn(): Turn | undefined;
  slot(): AgentSlot;
  controls: Pick<SessionControls, 'putBack' | 'sessionMode'>;
  setPaused(isPaused: boolean): void;
}): Omit<AgentListener, 'onOutput'> {
  const { context, sessionId, append, controls } = options;
  let title: string | undefined;
  return {
    batch(work) {
      try {
        context.journal.transaction(work);
      } catch (error) {
        context.log.error({ sessionId, error }, 'the output of an agent cannot be stored');
        options.turn()?.fail(error);
        void options.slot().end('its output cannot be stored');
      }
      if (options.turn()?.canceled !== true && context.isAhead(sessionId)) options.setPaused(true);
    },
    onUpdate(update) {
      const turn = options.turn();
      if (turn === undefined) append(...toLateEvents(update));
      else turn.onUpdate(update);
    },
    onPermission: async (params, signal) =>
      options.turn()?.onPermission(params, signal) ?? { outcome: { outcome: 'cancelled' } },
    onQuestion: async (params, signal) => options.turn()?.onQuestion(params, signal) ?? { action: 'cancel' },
    onModeChanged: createModeKeeper({
      append,
      turn: options.turn,
      sessionMode: controls.sessionMode,
      putBack: controls.putBack,
    }),
    onModelChanged(modelId, models) {
      if (options.turn()?.hasModelOverride !== true) append(toModelChanged(modelId, models));
    },
    onConfigOptions: (settings) =>
      append({ type: 'config_options_changed', configOptions: toBoundedConfig(settings) }),
    onUsage: (usage) => options.turn()?.onUsage(usage),
    onTitle(next) {
      if (next !== title) append({ type: 'title_suggested', title: next.slice(0, 500) });
      title = next;
    },
  };
}
