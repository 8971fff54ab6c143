import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What shows, without starting an agent, that somebody is signed in to it. Plain data. */
export interface SignInEvidence {
  /** One of these set is enough. */
  variables: string[];
  /** One of these there is enough. */
  files: EvidenceFile[];
  /** It works without, too. */
  optional?: true;
  /** It starts without anybody signed in and says so at the first prompt: that it started proves nothing. */
  missingAt?: 'prompt';
}

interface EvidenceFile {
  /** Variable that names the folder. */
  folder: string;
  /** Folder under HOME where the variable is not set. */
  otherwise: string;
  path: string;
  /** What has to stand in it. */
  holds?: RegExp;
}

/** Larger is no settings file, bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Looks for the evidence in an agent's environment.
 * @returns `mark`, which changes when the evidence does, and holds no secret
 */
export function lookForSignIn(
  evidence: SignInEvidence,
  env: Record<string, string>,
): { found: boolean; mark: string } {
  const set = evidence.variables.filter((name) => (env[name] ?? '') !== '');
  const seen = evidence.files.flatMap((file) => {
    const path = join(env[file.folder] || join(env.HOME ?? '', file.otherwise), file.path);
    const mark = markOf(path, file.holds);
    return mark === undefined ? [] : [`${path}@${mark}`];
  });
  return { found: set.length + seen.length > 0, mark: [...set, ...seen].join('\n') };
}

function markOf(path: string, holds: RegExp | undefined): string | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    if (size === 0 || (holds !== undefined && (size > MAX_BYTES || !holds.test(readFileSync(path, 'utf8')))))
      return undefined;
    return `${size}.${mtimeMs}`;
  } catch {
    return undefined;
  }
}
