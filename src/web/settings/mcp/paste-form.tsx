import { createMemo, createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { KaiwuError, toWireError, type WireError } from '../../../core/errors.ts';
import { type ParsedServers, readServers } from '../../../core/managed/read-servers.ts';
import { catalogEntry } from '../../api/catalog.ts';
import { actions, CallError, idOf, must } from '../../api/call.ts';
import { toWire } from '../../api/live.ts';
import { t } from '../../i18n/index.ts';
import { announce } from '../../ui/announce.ts';
import { Problem } from '../../ui/problem.tsx';
import { line } from '../../ui/text.tsx';
import { BACKEND } from './servers.ts';
import { WhereField } from './where-field.tsx';

type Read = ParsedServers['servers'][number];

const NOTHING: ParsedServers = { servers: [], warnings: [], errors: [] };

/** Servers out of a host's configuration, as it stands in its file: shown first, then added, each by itself. */
export default function PasteForm(props: { taken: string[]; onDone: () => void }): JSX.Element {
  const id = createUniqueId();
  const { taken } = props;
  const [text, setText] = createSignal('');
  const [left, setLeft] = createSignal<string[]>([]);
  const [done, setDone] = createSignal<string[]>([]);
  const [errors, setErrors] = createSignal(new Map<string, WireError>());
  const [where, setWhere] = createSignal(BACKEND);
  const [busy, setBusy] = createSignal(false);
  const fields = () => Object.keys(catalogEntry(idOf(actions.mcp.server.add))?.inputSchema.properties ?? {});
  const read = createMemo((): { parsed: ParsedServers; error?: WireError } => {
    if (text().trim() === '' || fields().length === 0) return { parsed: NOTHING };
    try {
      // What is wrong with a setting is for the backend to say.
      return { parsed: readServers(text(), taken, { fields: fields(), judge: (given) => given }) };
    } catch (failure) {
      if (!(failure instanceof KaiwuError)) throw failure;
      return { parsed: NOTHING, error: toWireError(failure) };
    }
  });
  const wanted = () =>
    read().parsed.servers.filter(({ name }) => !left().includes(name) && !done().includes(name));

  async function add(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (busy()) return;
    setBusy(true);
    const failed = new Map<string, WireError>();
    for (const server of wanted()) {
      const place = server.command === undefined ? {} : { where: server.where ?? where() };
      try {
        await must(actions.mcp.server.add({ ...server, ...place }));
        setDone([...done(), server.name]);
      } catch (failure) {
        failed.set(server.name, toWire(failure));
        // The rest would fail in the same way.
        if (failure instanceof CallError && failure.wire.code === 'backend_unreachable') break;
      }
      setErrors(new Map(failed));
    }
    setErrors(failed);
    setBusy(false);
    if (failed.size > 0) return;
    announce(t('mcpAdded', { n: done().length }));
    setText('');
    props.onDone();
  }

  return (
    <form class="form" onSubmit={(event) => void add(event)}>
      <div class="field">
        <label for={id}>{t('mcpPasteLabel')}</label>
        <textarea
          id={id}
          class="code"
          rows="8"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={'{"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}'}
          aria-describedby={`${id}-how`}
          onInput={(event) => {
            setErrors(new Map());
            setText(event.currentTarget.value);
          }}
        />
        <p id={`${id}-how`} class="muted how">
          {t('mcpPasteHow')}
        </p>
      </div>
      <Problem error={read().error} />
      <For each={[...read().parsed.errors, ...read().parsed.warnings]}>
        {(remark) => <p class="preview">{line(remark)}</p>}
      </For>
      <Show when={read().parsed.servers.length > 0}>
        <ul class="plain-list" aria-label={t('mcpFound')}>
          <For each={read().parsed.servers}>
            {(server) => (
              <Found
                server={server}
                chosen={!left().includes(server.name)}
                done={done().includes(server.name)}
                error={errors().get(server.name)}
                onChoose={(chosen) =>
                  setLeft(chosen ? left().filter((name) => name !== server.name) : [...left(), server.name])
                }
              />
            )}
          </For>
        </ul>
        <Show when={wanted().some(({ command, where }) => command !== undefined && where === undefined)}>
          <WhereField value={where()} onChange={setWhere} />
        </Show>
        <p class="buttons">
          <button type="submit" class="primary" disabled={busy() || wanted().length === 0}>
            {busy() ? t('mcpTesting') : t('mcpAddSeveral', { n: wanted().length })}
          </button>
        </p>
      </Show>
    </form>
  );
}

/** What would be added, without the values of its secrets. */
function Found(props: {
  server: Read;
  chosen: boolean;
  done: boolean;
  error: WireError | undefined;
  onChoose: (chosen: boolean) => void;
}): JSX.Element {
  const secrets = () => [
    ...(props.server.token === undefined ? [] : [t('mcpToken')]),
    ...Object.keys(props.server.headers ?? {}),
    ...Object.keys(props.server.env ?? {}),
  ];
  return (
    <li>
      <label class="check">
        <input
          type="checkbox"
          checked={props.chosen || props.done}
          disabled={props.done}
          onChange={(event) => props.onChoose(event.currentTarget.checked)}
        />
        <span class="title">{line(props.server.name)}</span>
      </label>
      <code dir="auto">{line(props.server.url ?? props.server.command ?? '')}</code>
      <Show when={secrets().length > 0}>
        <span class="muted">{t('mcpWithSecrets', { names: secrets().map(line).join(', ') })}</span>
      </Show>
      <Show when={props.done}>
        <span class="kind">{t('mcpIsAdded')}</span>
      </Show>
      <Problem error={props.error} />
    </li>
  );
}
