import { createSignal, For, type JSX, Show } from 'solid-js';
import { MANAGED_TOOL_STATES } from '../../../core/ports/managed.ts';
import { actions, must } from '../../api/call.ts';
import { createPaged } from '../../api/pages.ts';
import { t } from '../../i18n/index.ts';
import { MoreOf } from '../../ui/load-more.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Rows } from '../../ui/rows.tsx';
import { line, Stranger } from '../../ui/text.tsx';
import { isNewsOf, type Server, type Tool } from './servers.ts';

/** How many tools a server has in each state; all of them on request. */
export function ServerTools(props: { server: Server }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const states = () => MANAGED_TOOL_STATES.filter((state) => props.server.toolCounts[state] > 0);
  return (
    <Show when={states().length > 0} fallback={<p class="muted">{t('mcpNoTools')}</p>}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {t('mcpTools')}{' '}
          <For each={states()}>
            {(state) => (
              <span class={`tool-state ${state}`}>
                {props.server.toolCounts[state]} {t(`mcp_tool_${state}`)}
              </span>
            )}
          </For>
        </summary>
        <Show when={open()}>
          <ToolList server={props.server.name} />
        </Show>
      </details>
    </Show>
  );
}

function ToolList(props: { server: string }): JSX.Element {
  const tools = createPaged<Tool>(
    async (place) => {
      const { tools: items, nextCursor } = await must(
        actions.mcp.tool.list({ server: props.server, ...place }),
      );
      return { items, nextCursor };
    },
    (news) => isNewsOf(props.server, news),
  );
  return (
    <>
      <Problem error={tools.error()} />
      <Show when={tools.data()} fallback={<p class="muted">{t('loading')}</p>}>
        {(found) => (
          <ul class="tools">
            <Rows each={found().rows} by={({ name }) => name}>
              {(tool) => (
                <li>
                  <p>
                    <code class="tool-name" dir="auto">
                      {line(tool().name)}
                    </code>{' '}
                    <span class={`effect ${tool().effect}`}>{t(`effect_${tool().effect}`)}</span>{' '}
                    <span class={`tool-state ${tool().state}`}>{t(`mcp_tool_${tool().state}`)}</span>
                  </p>
                  <Show when={tool().reason}>{(reason) => <p class="reason">{line(reason())}</p>}</Show>
                  <Show when={tool().description !== ''}>
                    <p class="muted">
                      <Stranger text={tool().description} />
                    </p>
                  </Show>
                </li>
              )}
            </Rows>
          </ul>
        )}
      </Show>
      <MoreOf list={tools} />
    </>
  );
}
