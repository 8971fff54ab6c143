import type { ANSWER_KINDS, PROVIDER_KINDS } from '../../../core/ports/web.ts';
import type { actions, OutputOf } from '../../api/call.ts';

export type Provider = OutputOf<typeof actions.provider.list>['providers'][number];
export type Kind = (typeof PROVIDER_KINDS)[number];
type AnswerKind = (typeof ANSWER_KINDS)[number];

/** Names that the services give themselves. */
export const KINDS: readonly (readonly [kind: Kind, name: string])[] = [
  ['searxng', 'SearXNG'],
  ['brave', 'Brave'],
  ['tavily', 'Tavily'],
  ['openai', 'OpenAI'],
  ['gemini', 'Gemini'],
];

const ANSWERS: ReadonlySet<Kind> = new Set<AnswerKind>(['openai', 'gemini']);

/** Whether it answers questions; the others search. */
export const isAnswering = (kind: Kind): boolean => ANSWERS.has(kind);

export interface FormValues {
  id: string;
  kind: Kind;
  base_url: string;
  model: string;
  max_results: string;
  default_language: string;
  timeout_seconds: string;
  /** Undefined: as it is. */
  api_key: string | undefined;
}

export const toValues = (provider: Provider | undefined): FormValues => ({
  id: provider?.id ?? '',
  kind: provider?.kind ?? 'searxng',
  base_url: provider?.base_url ?? '',
  model: provider?.model ?? '',
  max_results: String(provider?.max_results ?? ''),
  default_language: provider?.default_language ?? '',
  timeout_seconds: String(provider?.timeout_seconds ?? ''),
  api_key: undefined,
});

/** What is empty is left out; what its kind has no use for, too. */
export function toSettings({ id, kind, api_key: key, ...texts }: FormValues) {
  const text = (value: string, use = true) => (use && value.trim() !== '' ? value.trim() : undefined);
  const number = (value: string) => (value.trim() === '' ? undefined : Number(value));
  return {
    id: id.trim(),
    kind,
    base_url: text(texts.base_url),
    model: text(texts.model, isAnswering(kind)),
    max_results: isAnswering(kind) ? undefined : number(texts.max_results),
    default_language: text(texts.default_language, kind === 'searxng'),
    timeout_seconds: number(texts.timeout_seconds),
    api_key: key === undefined || key === '' ? undefined : key,
  };
}
