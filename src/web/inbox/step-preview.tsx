import { type JSX, Show } from 'solid-js';
import type { SessionEvent } from '../../core/session.ts';
import { createAsked } from '../api/asked.ts';
import { actions } from '../api/call.ts';
import { ToolCall } from '../session/tool-call.tsx';

/** Newest steps among which the one in question is looked for. */
const STEPS = 50;

/** The step that a permission is about, with what it would change. */
export function StepPreview(props: { sessionId: string; toolCallId: string }): JSX.Element {
  const step = createAsked(
    () => props.toolCallId,
    async (toolCallId) => {
      const { sessionId } = props;
      const outcome = await actions.session.transcript.get({ sessionId, types: ['tool_call'], limit: STEPS });
      if (outcome.status !== 'ok') return undefined;
      const events = outcome.output.events as unknown as SessionEvent[];
      const found = events.findLast((event) => event.type === 'tool_call' && event.toolCallId === toolCallId);
      return found?.type === 'tool_call' ? found : undefined;
    },
  );
  const shown = () => (step.data()?.content === undefined ? undefined : step.data());
  return (
    <Show when={shown()}>
      {(found) => (
        <ToolCall
          tool={{
            title: found().title ?? '',
            toolKind: found().kind,
            status: found().status,
            content: found().content,
          }}
          open
        />
      )}
    </Show>
  );
}
