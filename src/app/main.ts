import type { Channel } from '../local/home.ts';
import { VALUE_FLAGS } from '../surfaces/cli/value-flags.ts';
import { KEYRING_COMMAND } from './keyring-command.ts';

/** Runs a command line of a channel. Loads only what its command needs: hosts wait for `mcp serve` to start. */
export async function main(channel: Channel): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv[0] === KEYRING_COMMAND) {
    const { serveKeyring } = await import('../local/keyring-helper.ts');
    return serveKeyring();
  }
  if (isMcpServe(argv)) {
    const { runMcp } = await import('./mcp.ts');
    return runMcp(channel, argv);
  }
  const { runCommandLine } = await import('./cli.ts');
  return runCommandLine(channel, argv);
}

/** `mcp serve` or `mcp start`, with flags anywhere between; help is the command line's. */
function isMcpServe(argv: string[]): boolean {
  const words = argv.filter((arg, i) => !arg.startsWith('-') && !VALUE_FLAGS.includes(argv[i - 1] ?? ''));
  const [first, second] = words;
  const help = argv.includes('--help') || argv.includes('-h');
  return first === 'mcp' && (second === 'serve' || second === 'start') && !help;
}
