import type { WebSocket } from 'ws';
import type { Logger } from '../../core/ports/host.ts';

export interface LinkTimings {
  /** Milliseconds between two pings, and of silence after which the link is dead. */
  pingMs: number;
  deadMs: number;
  /** Milliseconds that a new link has for its `hello`. */
  helloMs: number;
  /** Milliseconds that an older link has to prove that it lives when a second daemon claims its machine. */
  probeMs: number;
}

/** Frames that wait to be handled before reading from the socket pauses. */
const MAX_WAITING_FRAMES = 64;

/** Outgoing bytes that the other end may leave unread before the link is given up; it comes back and resumes. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

/** Milliseconds for the closing handshake; then the socket is torn down. */
const CLOSE_GRACE_MS = 1000;

/** One WebSocket with what a link needs of it: frames in order, a heartbeat, and bounded buffers both ways. */
export interface LinkSocket {
  send(text: string): void;
  /** Whether the other end answers a ping within `timeoutMs`. */
  isAlive(timeoutMs: number): Promise<boolean>;
  close(code: number, reason: string): void;
  readonly closed: boolean;
}

export function createLinkSocket(
  ws: WebSocket,
  options: {
    timings: LinkTimings;
    log: Logger;
    monotonicMs(): number;
    /** The next frame is handled after this has resolved. It must not reject. */
    onFrame(text: string): Promise<void>;
    onClose(code: number): void;
  },
): LinkSocket {
  const { timings, log, monotonicMs } = options;
  const waiting: string[] = [];
  let handling = false;
  let lastHeard = monotonicMs();
  let closing = false;
  let closed = false;

  async function handleFrames(): Promise<void> {
    if (handling) return;
    handling = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      await options.onFrame(text);
      if (waiting.length < MAX_WAITING_FRAMES && ws.isPaused) ws.resume();
    }
    handling = false;
  }

  let lastBeat = monotonicMs();
  const heartbeat = setInterval(() => {
    const now = monotonicMs();
    // While frames wait here, and after this process has slept, the silence is ours and not the other end's.
    if (handling || now - lastBeat > 2 * timings.pingMs) lastHeard = now;
    lastBeat = now;
    if (now - lastHeard > timings.deadMs) {
      log.warn({ deadMs: timings.deadMs }, 'link is silent, taking it for dead');
      ws.terminate();
    } else if (ws.readyState === ws.OPEN) {
      ws.ping();
    }
  }, timings.pingMs);

  const heard = () => {
    lastHeard = monotonicMs();
  };
  ws.on('ping', heard);
  ws.on('pong', heard);
  ws.on('message', (data, isBinary) => {
    heard();
    if (closing) return;
    if (isBinary) return close(1003, 'frames are JSON text');
    waiting.push((data as Buffer).toString('utf8'));
    if (waiting.length >= MAX_WAITING_FRAMES) ws.pause();
    void handleFrames();
  });
  ws.on('error', (error) => log.warn({ reason: error.message }, 'link error'));
  ws.on('close', (code) => {
    closing = true;
    closed = true;
    waiting.length = 0;
    clearInterval(heartbeat);
    options.onClose(code);
  });

  function close(code: number, reason: string): void {
    if (closing) return;
    closing = true;
    waiting.length = 0;
    // A close frame holds 123 bytes of reason. An answer that is being written in this turn still goes out before it.
    setImmediate(() => ws.close(code, Buffer.from(reason).subarray(0, 120).toString()));
    const tearDown = setTimeout(() => ws.terminate(), CLOSE_GRACE_MS);
    ws.once('close', () => clearTimeout(tearDown));
    if (ws.isPaused) ws.resume();
  }

  return {
    send(text) {
      if (ws.readyState !== ws.OPEN) return;
      ws.send(text);
      if (ws.bufferedAmount > MAX_UNSENT_BYTES) {
        log.warn({ unsentBytes: ws.bufferedAmount }, 'link does not read what it is sent, giving it up');
        ws.terminate();
      }
    },
    isAlive(timeoutMs) {
      if (ws.readyState !== ws.OPEN) return Promise.resolve(false);
      return new Promise((resolve) => {
        const settle = (alive: boolean) => {
          clearTimeout(timer);
          ws.off('pong', onPong);
          ws.off('close', onClose);
          resolve(alive);
        };
        const onPong = () => settle(true);
        const onClose = () => settle(false);
        const timer = setTimeout(onClose, timeoutMs);
        ws.on('pong', onPong);
        ws.on('close', onClose);
        ws.ping();
      });
    },
    close,
    get closed() {
      return closed;
    },
  };
}
