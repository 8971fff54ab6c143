import type { Envelope } from '../../core/call.ts';
import type { Command, Invocation } from '../../surfaces/cli/command.ts';

/** A call that gave no output: its envelope is the outcome of the command that made it. */
class Ended extends Error {
  readonly envelope: Envelope;

  constructor(envelope: Envelope) {
    super('the call gave no output');
    this.envelope = envelope;
  }
}

/** The command that the catalog gives an action, by its path: `policy get`. */
export function commandAt(commands: readonly Command[], path: string): Command {
  const command = commands.find((candidate) => candidate.path === path);
  if (command === undefined) throw new Error(`the catalog has no command ${path}`);
  return command;
}

/**
 * Calls an action on behalf of a command made of several, with the flags that the person gave.
 * What gives no output (an error, an approval that was filed) ends that command; see `madeOfCalls`.
 */
export async function call(
  commands: readonly Command[],
  path: string,
  input: Record<string, unknown>,
  { flags, signal }: Pick<Invocation, 'flags' | 'signal'>,
): Promise<Record<string, unknown>> {
  const envelope = await commandAt(commands, path).run({ input, flags, signal });
  if (envelope.status !== 'ok') throw new Ended(envelope);
  return envelope.output;
}

/** A command that makes calls, with what ended one of them as its outcome. */
export const madeOfCalls = (command: Command): Command => ({
  ...command,
  run: (invocation) =>
    command.run(invocation).catch((error: unknown) => {
      if (error instanceof Ended) return error.envelope;
      throw error;
    }),
});
