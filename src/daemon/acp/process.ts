import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { KaiwuError } from '../../core/errors.ts';
import { type Program, type ProgramExit, type ProgramOptions, startProgram } from '../../process/program.ts';

/** How much of an agent's last error output is kept for messages, in characters. */
const STDERR_TAIL = 8 * 1024;

/** How an agent's process ended. */
export interface AgentExit extends ProgramExit {
  stderrTail: string;
}

export interface AgentProcess extends Omit<Program, 'exited' | 'stderr'> {
  readonly exited: Promise<AgentExit>;
}

export interface SpawnOptions extends ProgramOptions {
  /** Takes out of its error output what nobody may read. */
  redact(text: string): string;
  /** Hears what the agent prints on stderr. */
  onStderr(text: string): void;
}

/** Starts an agent as the leader of a process group of its own. @throws agent_failed */
export async function spawnAgent(options: SpawnOptions): Promise<AgentProcess> {
  const program = await startProgram(options).catch((cause: Error) => {
    throw new KaiwuError('agent_failed', `${options.command} cannot be started: ${cause.message}`, { cause });
  });
  const tail = readStderr(program.stderr, options);
  return { ...program, exited: program.exited.then((exit) => ({ ...exit, stderrTail: tail() })) };
}

function readStderr(
  stderr: Readable,
  { redact, onStderr }: Pick<SpawnOptions, 'redact' | 'onStderr'>,
): () => string {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let tail = '';
  // Whole lines: half a secret would not be known for one.
  function put(text: string): void {
    const clean = redact(text);
    tail = (tail + clean).slice(-STDERR_TAIL);
    onStderr(clean);
  }
  stderr.on('data', (chunk: Buffer) => {
    line += decoder.write(chunk);
    const end = line.length > STDERR_TAIL ? line.length : line.lastIndexOf('\n') + 1;
    if (end === 0) return;
    put(line.slice(0, end));
    line = line.slice(end);
  });
  return () => {
    if (line !== '') put(line);
    line = '';
    return tail.trim();
  };
}
