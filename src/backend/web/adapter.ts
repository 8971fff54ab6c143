import type { OutboundRequest } from '../../core/ports/host.ts';
import type { AnswerDepth, WebProvider } from '../../core/ports/web.ts';

/** A provider with its key, ready to be asked. */
export interface KeyedProvider extends WebProvider {
  api_key?: string;
}

export type Asked = Pick<OutboundRequest, 'url' | 'body' | 'headers'>;
export type HttpAnswer = { status: number; text: string };

/** Rows as the service gave them, not yet cleaned. */
export type RawResults = { title?: string | null; url?: string | null; snippet?: string | null }[];

/** How one kind of search service is asked, and what its answer means. */
export interface SearchAdapter {
  ask(provider: KeyedProvider, query: string, count: number): Asked;
  /** @throws provider_failed */
  read(answer: HttpAnswer, service: string): RawResults;
}

/** The same for one that answers in words. */
export interface AnswerAdapter {
  ask(provider: KeyedProvider, question: string, depth: AnswerDepth): Asked;
  /** @throws provider_failed */
  read(
    answer: HttpAnswer,
    service: string,
  ): { text: string; citations: Pick<RawResults[number], 'title' | 'url'>[] };
}

/** Path below the base of an API. */
export const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}/${path}`;

/** Services at home need no key. */
export const bearer = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };
