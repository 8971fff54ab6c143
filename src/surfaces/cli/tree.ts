import { KaiwuError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import type { Command } from './command.ts';
import { VALUE_FLAGS } from './value-flags.ts';

export interface Found {
  /** Undefined for a group of commands, and for no words at all. */
  command: Command | undefined;
  /** Words that were understood. */
  path: string;
  /** Commands below `path`. */
  below: Command[];
  /** What is left of the line, flags before the command included. */
  rest: string[];
}

/**
 * Finds the command that a line names: its longest leading run of words. Flags may stand anywhere between.
 * @throws unknown_action naming the nearest commands
 */
export function findCommand(argv: readonly string[], commands: readonly Command[]): Found {
  const words: string[] = [];
  const rest: string[] = [];
  let i = 0;
  for (; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg.startsWith('-') && arg !== '-') {
      if (arg === '--') break;
      rest.push(arg);
      if (VALUE_FLAGS.includes(arg) && i + 1 < argv.length) rest.push(argv[++i] as string);
      continue;
    }
    const next = [...words, arg.replaceAll('_', '-')].join(' ');
    if (!commands.some(({ path }) => path === next || path.startsWith(`${next} `))) break;
    words.push(arg.replaceAll('_', '-'));
  }
  rest.push(...argv.slice(i));
  const path = words.join(' ');
  const command = commands.find((candidate) => candidate.path === path);
  const below = commands.filter((candidate) => path === '' || candidate.path.startsWith(`${path} `));
  const stray = argv[i];
  if (command === undefined && stray !== undefined && stray !== '--') {
    const more = argv
      .slice(i)
      .filter((arg) => !arg.startsWith('-'))
      .slice(0, 3);
    throw unknownCommand([path, ...more], commands);
  }
  return { command, path, below, rest };
}

function unknownCommand(words: string[], commands: readonly Command[]): KaiwuError {
  const received = words.join(' ').trim().slice(0, 80);
  const names = nearest(received, [...new Set(commands.map(({ path }) => path))], 3);
  return new KaiwuError('unknown_action', `There is no command ${JSON.stringify(received)}.`, {
    hint: `Nearest: ${names.map((name) => `\`kaiwu ${name}\``).join(', ')}. All: \`kaiwu --help\`.`,
    details: { received, nearest: names },
  });
}
