import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { createBell } from '../../../src/backend/bell.ts';
import type { Json } from './json.ts';

export interface SseEvent {
  id?: string;
  event?: string;
  data: Json;
}

export interface EventReader {
  status: number;
  headers: IncomingMessage['headers'];
  events: SseEvent[];
  comments: string[];
  incoming: IncomingMessage;
  /** Begins to read what was opened paused. */
  start(): void;
  /** Resolves once this many events, comments not counted, have come. */
  count(events: number): Promise<SseEvent[]>;
  ended: Promise<void>;
  close(): void;
}

/** Opens `GET /v1/events`. */
export async function openEvents(
  url: string,
  token: string,
  options: { query?: string; lastEventId?: string; paused?: boolean } = {},
): Promise<EventReader> {
  const bell = createBell();
  let outgoing!: ClientRequest;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing = get(
      `${url}/v1/events${options.query ?? ''}`,
      {
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
        },
      },
      resolve,
    ).on('error', reject);
  });
  const reader: EventReader = {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    events: [],
    comments: [],
    incoming,
    start: () => void incoming.on('data', (text: string) => parser.feed(text)),
    async count(events) {
      while (reader.events.length < events) await bell.heard();
      return reader.events;
    },
    ended: new Promise((resolve) => incoming.on('close', () => resolve())),
    close: () => outgoing.destroy(),
  };
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      reader.events.push({ id, event, data: JSON.parse(data) });
      bell.ring();
    },
    onComment: (comment) => {
      reader.comments.push(comment);
      bell.ring();
    },
  });
  incoming.on('error', () => {});
  incoming.setEncoding('utf8');
  if (options.paused !== true) reader.start();
  return reader;
}
