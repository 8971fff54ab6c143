import type { Readable, Writable } from 'node:stream';

/** What the command line speaks through. */
export interface CliIo {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  /** Folder that the person stands in. */
  cwd: string;
  /** Columns of the terminal that stdout is; undefined when it is none. */
  width?: number;
  /** IANA name of the person's time zone. */
  timeZone: string;
  /** Colour on stdout. */
  color: boolean;
  /** stderr is a terminal, so that progress can be drawn over itself. */
  progress: boolean;
}

/**
 * Writes a text and settles when all of it has left the process, however slow the reader is. A reader that went away
 * (`| head`) is no error: nobody is left to tell.
 */
export function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error == null || isBrokenPipe(error)) resolve();
      else reject(error);
    });
  });
}

/** Keeps a reader that went away from ending the process with a stack trace. */
export function ignoreBrokenPipes(io: Pick<CliIo, 'stdout' | 'stderr'>): void {
  for (const stream of [io.stdout, io.stderr]) {
    stream.on('error', (error: Error) => {
      if (!isBrokenPipe(error)) throw error;
    });
  }
}

const isBrokenPipe = (error: Error): boolean =>
  ['EPIPE', 'ERR_STREAM_DESTROYED', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '');
