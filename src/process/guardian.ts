import { spawn } from 'node:child_process';

/** Ends the process groups that we started when this process could not do so itself. */
export interface Guardian {
  watch(groupId: number): void;
  forget(groupId: number): void;
  /** Lets it go; it ends what it still watches. */
  close(): void;
}

/**
 * Reads `+ group` and `- group`; at the end of its input, which the kernel brings about however the writer died, it
 * ends the groups that are left.
 */
const SCRIPT = `
groups=''
while read -r op group; do
  kept=''
  for g in $groups; do [ "$g" = "$group" ] || kept="$kept $g"; done
  groups="$kept"
  [ "$op" = '+' ] && groups="$groups $group"
done
for g in $groups; do kill -s TERM -- "-$g"; done 2>/dev/null
[ -n "$groups" ] && sleep 2
for g in $groups; do kill -s KILL -- "-$g"; done 2>/dev/null
`;

/**
 * Agents and managed servers lead process groups of their own, so that a terminal's Ctrl-C does not reach them; by the same
 * token nothing would end them if we were killed. A shell of one megabyte watches for that.
 */
export function createGuardian(): Guardian {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  const tell = (line: string) => {
    if (shell.stdin.writable) shell.stdin.write(`${line}\n`);
  };
  return {
    watch: (groupId) => tell(`+ ${groupId}`),
    forget: (groupId) => tell(`- ${groupId}`),
    close: () => shell.stdin.end(),
  };
}
