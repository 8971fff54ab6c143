import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import { toIssueText } from '../../core/issue-text.ts';
import { findJsonFault } from '../../core/json-position.ts';
import { nearest } from '../../core/nearest.ts';
import type { AddedAgent } from '../../local/added-agents.ts';
import type { GivenFile } from '../given-file.ts';

const started = { args: z.array(z.string()).default([]), env: z.record(z.string(), z.string()).optional() };
const packaged = z.looseObject({ package: z.string().min(1), cmd: z.string().min(1).optional(), ...started });
const binary = z.looseObject({ archive: z.string(), cmd: z.string(), ...started });

/** One entry of the public registry of ACP agents. Keys that are not used here may hold anything. */
const entrySchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  distribution: z.looseObject({
    npx: packaged.optional(),
    uvx: packaged.optional(),
    binary: z.record(z.string(), binary).optional(),
  }),
});

type Entry = z.output<typeof entrySchema>;

/**
 * How the registry says that an agent is started. The file holds the whole registry, or one entry of it.
 * @param platform of this machine in the registry's words: `linux-x86_64`
 * @throws invalid_input | not_found | unsupported (it comes as an archive alone)
 */
export function toRegisteredAgent(file: GivenFile, id: string, platform: string): AddedAgent {
  const entry = findEntry(file, id);
  const { npx, uvx } = entry.distribution;
  const about = { registryId: id, ...(entry.name === undefined ? {} : { name: entry.name.slice(0, 100) }) };
  if (npx !== undefined) {
    const what = npx.cmd === undefined ? [npx.package] : ['--package', npx.package, npx.cmd];
    return { ...about, command: 'npx', args: ['-y', ...what, ...npx.args], ...toEnv(npx.env) };
  }
  if (uvx !== undefined) {
    const what = uvx.cmd === undefined ? [uvx.package] : ['--from', uvx.package, uvx.cmd];
    return { ...about, command: 'uvx', args: [...what, ...uvx.args], ...toEnv(uvx.env) };
  }
  throw byHand(entry, platform);
}

const toEnv = (env: Record<string, string> | undefined) => (env === undefined ? {} : { env });

function findEntry({ name, text }: GivenFile, id: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column } = findJsonFault(text);
    throw new KaiwuError('invalid_input', `${name}:${line}:${column} is where it stops being JSON.`, {
      cause,
    });
  }
  const agents = (value as { agents?: unknown } | null)?.agents;
  const entries: unknown[] = Array.isArray(agents) ? agents : [value];
  const ids = entries.flatMap((entry) => {
    const known = (entry as { id?: unknown } | null)?.id;
    return typeof known === 'string' ? [known] : [];
  });
  const found = entries.find((entry) => (entry as { id?: unknown } | null)?.id === id);
  if (found === undefined) {
    throw new KaiwuError('not_found', `${name} has no agent ${JSON.stringify(id)}.`, {
      hint: `Nearest: ${nearest(id, ids, 3).join(', ') || 'none'}.`,
      details: { id },
    });
  }
  const parsed = entrySchema.safeParse(found);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join('.') || 'the entry';
  const what = issue === undefined ? 'is not as expected' : toIssueText(issue);
  throw new KaiwuError('invalid_input', `${name}: ${id}: ${where} ${what}.`, {
    hint: 'The file is to be in the format of the public ACP registry.',
  });
}

/** An archive is put in place by people: what it holds is not known here. */
function byHand({ id, distribution }: Entry, platform: string): KaiwuError {
  const fitting = distribution.binary?.[platform];
  const message = `${id} comes as an archive that has to be installed by hand.`;
  if (fitting === undefined) {
    const platforms = Object.keys(distribution.binary ?? {});
    return new KaiwuError('unsupported', `${id} has nothing for ${platform}.`, {
      hint: `It has archives for ${platforms.join(', ') || 'nothing'}.`,
      details: { platforms },
    });
  }
  const { archive, cmd, args } = fitting;
  const command = [`PATH/TO/${cmd.replace(/^\.\//, '')}`, ...args].join(' ');
  return new KaiwuError('unsupported', message, {
    hint: `Unpack ${archive}, then add it with \`kaiwu agents add ${id} -- ${command}\`.`,
    details: { archive, cmd, args },
  });
}
