import { KaiwuError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { SUBAGENT_INTENTS, type Subagent, type SubagentsPort } from '../../core/ports/assistant.ts';
import { PERMISSION_MODES } from '../../core/session.ts';
import type { AccountSettings } from '../store/account-settings.ts';
import { readPage } from './front-matter.ts';
import { TEXTS } from './texts.generated.ts';

const NAME = 'subagents';
const MAX_OWN = 200;
const FOLDER = 'agents/';

type Own = Record<string, Omit<Subagent, 'id' | 'source'>>;

const BUILT_IN: readonly Subagent[] = Object.entries(TEXTS)
  .filter(([name]) => name.startsWith(FOLDER))
  .map(([name, text]) => toBuiltIn(name.slice(FOLDER.length), text));

function toBuiltIn(id: string, text: string): Subagent {
  const { head, body } = readPage(text);
  const intent = SUBAGENT_INTENTS.find((each) => each === head['intent']);
  const permissionMode = PERMISSION_MODES.find((each) => each === head['permissionMode']);
  if (intent === undefined)
    throw new Error(`the sub-agent ${id} has no intent of ${SUBAGENT_INTENTS.join(', ')}`);
  return {
    id,
    name: head['name'] ?? id,
    description: head['description'] ?? '',
    intent,
    ...(permissionMode === undefined ? {} : { permissionMode }),
    prompt: body,
    source: 'built_in',
  };
}

export function createSubagents(settings: AccountSettings): SubagentsPort {
  async function list(): Promise<Subagent[]> {
    const own = Object.entries((await settings.read<Own>(NAME)) ?? {});
    return [...BUILT_IN, ...own.map(([id, rest]): Subagent => ({ id, ...rest, source: 'account' }))].toSorted(
      (a, b) => (a.id < b.id ? -1 : 1),
    );
  }

  return {
    list,
    async get(id) {
      const all = await list();
      const found = all.find((each) => each.id === id);
      if (found === undefined) throw unknown(id, all);
      return found;
    },
    async set({ id, ...rest }) {
      refuseBuiltIn(id, 'Give yours another id.');
      await settings.change<Own>(NAME, (own = {}) => {
        if (!Object.hasOwn(own, id) && Object.keys(own).length >= MAX_OWN) throw tooMany();
        return { ...own, [id]: rest };
      });
      return { id, ...rest, source: 'account' };
    },
    async remove(id) {
      refuseBuiltIn(id, 'Disable the action that runs sub-agents if none shall be run.');
      const all = await list();
      await settings.change<Own>(NAME, (own = {}) => {
        if (!Object.hasOwn(own, id)) throw unknown(id, all);
        const { [id]: _, ...others } = own;
        return others;
      });
    },
  };
}

function refuseBuiltIn(id: string, hint: string): void {
  if (!BUILT_IN.some((each) => each.id === id)) return;
  throw new KaiwuError('conflict', `The sub-agent ${id} comes with Kaiwu and is changed only with it.`, {
    hint,
  });
}

const unknown = (id: string, all: readonly Subagent[]) =>
  new KaiwuError('not_found', `No sub-agent is called ${JSON.stringify(id.slice(0, 80))}.`, {
    hint: `Nearest: ${nearest(
      id,
      all.map((each) => each.id),
      3,
    ).join(', ')}.`,
  });

const tooMany = () =>
  new KaiwuError(
    'conflict',
    `There are ${MAX_OWN} sub-agents of the account already, the most that are kept.`,
    {
      hint: 'Remove one that is no longer used.',
    },
  );
