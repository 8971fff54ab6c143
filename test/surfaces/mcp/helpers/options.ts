import type { BuiltinAnswers } from '../../../../src/surfaces/mcp/host-requests.ts';
import type { Timing } from '../../../../src/surfaces/mcp/timing.ts';

/** What a test tells its server process, as JSON in a file. Address and token are read anew at each connect. */
export interface EntryOptions {
  url?: string;
  token?: string;
  cacheFile: string;
  builtinFile: string;
  builtinAnswers?: BuiltinAnswers;
  sessionId?: string;
  machineId?: string;
  /** What is known of the daemon. */
  daemon?: string;
  timing?: Partial<Timing>;
  /** What goes wrong when the process gets SIGUSR2. */
  misbehave?: ('console' | 'stdout' | 'handle' | 'rejection' | 'exception')[];
}
