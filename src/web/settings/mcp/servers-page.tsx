import { createSignal, type JSX, lazy, Show, Suspense } from 'solid-js';
import { createMachineNames } from '../../sessions/machine-names.ts';
import { t } from '../../i18n/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { moveAmong, useKeys } from '../../ui/keys.ts';
import { Problem } from '../../ui/problem.tsx';
import { Rows } from '../../ui/rows.tsx';
import { line } from '../../ui/text.tsx';
import { ServerCard } from './server-card.tsx';
import { ServerForm } from './server-form.tsx';
import { createServers, type Server } from './servers.ts';

/** With all that reads the files of other hosts. */
const PasteForm = lazy(() => import('./paste-form.tsx'));

type Open = { form: Server | undefined } | 'paste';

/** The MCP servers of the account and of its machines: how each does, what it offers, and all that can be done with it. */
export default function McpServersPage(): JSX.Element {
  const servers = createServers();
  const machineName = createMachineNames();
  const [open, setOpen] = createSignal<Open>();
  const close = () => {
    setOpen(undefined);
    void servers.refresh();
  };

  const move = (by: number) => moveAmong('.mcp > .card', by);
  useKeys({ j: () => move(1), k: () => move(-1), c: () => setOpen({ form: undefined }) });

  return (
    <div class="page narrow mcp">
      <header class="page-head">
        <h1>{t('mcpServers')}</h1>
        <button type="button" onClick={() => setOpen('paste')}>
          {t('mcpPaste')}
        </button>
        <button type="button" class="primary" onClick={() => setOpen({ form: undefined })}>
          {t('mcpAdd')}
        </button>
      </header>
      <p class="lead">{t('mcpLead')}</p>
      <Problem error={servers.error()} />
      <Show when={servers.data()} fallback={<p class="loading">{t('loading')}</p>}>
        {(list) => (
          <Show when={list().length > 0} fallback={<p class="nothing">{t('mcpNone')}</p>}>
            <Rows each={list()} by={({ name }) => name}>
              {(server) => (
                <ServerCard
                  server={server()}
                  machineName={machineName}
                  onEdit={() => setOpen({ form: server() })}
                  onChanged={() => void servers.refresh()}
                />
              )}
            </Rows>
          </Show>
        )}
      </Show>
      <Show when={open()} keyed>
        {(what) =>
          what === 'paste' ? (
            <Dialog title={t('mcpPasteTitle')} class="wide" onClose={close}>
              <Suspense fallback={<p class="loading">{t('loading')}</p>}>
                <PasteForm taken={(servers.data() ?? []).map(({ name }) => name)} onDone={close} />
              </Suspense>
            </Dialog>
          ) : (
            <Dialog
              title={
                what.form === undefined ? t('mcpAddTitle') : t('mcpEditTitle', { name: line(what.form.name) })
              }
              class="wide"
              onClose={close}
            >
              <ServerForm server={what.form} onDone={close} />
            </Dialog>
          )
        }
      </Show>
    </div>
  );
}
