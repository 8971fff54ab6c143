import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECIPES } from '../test/agents/recipes.ts';
import { type AgentResult, countOf, type SuiteResult } from '../test/agents/result.ts';
import { measureAgent } from '../test/agents/scenario.ts';
import { root } from './registry.ts';

/** `npm run test:agents [names...]`: real agents, a fake model, and everything that Kaiwu promises of them. */

const names = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const flag = (name: string) =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const unknown = names.filter((name) => RECIPES.every(({ agentId }) => agentId !== name));
if (unknown.length > 0) {
  process.stderr.write(
    `No agent ${unknown.join(', ')}: use ${RECIPES.map(({ agentId }) => agentId).join(', ')}.\n`,
  );
  process.exit(2);
}

if (process.env.KAIWU_TEST_SKIP_BUILD === undefined) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}
const verbose = process.argv.includes('--verbose');
const agents: AgentResult[] = [];
for (const recipe of RECIPES.filter(({ agentId }) => names.length === 0 || names.includes(agentId))) {
  const result = await measureAgent(recipe, ({ step, verdict, reason, ms }) => {
    if (verbose)
      process.stderr.write(`  ${recipe.agentId} ${step}: ${verdict} ${reason ?? ''} ${ms ?? ''}\n`);
  });
  agents.push(result);
  process.stdout.write(
    `agent ${result.agentId}: ${result.verdict}${result.reason ? ` (${result.reason})` : ''}\n`,
  );
  for (const { step, reason } of result.steps.filter(({ verdict }) => verdict === 'failed')) {
    process.stdout.write(`  ${step}: ${reason}\n`);
  }
}

const suite: SuiteResult = { node: process.version, platform: `${process.platform}-${process.arch}`, agents };
const output = flag('output') ?? (names.length === 0 ? join(root, 'test/agents/results.json') : undefined);
if (output !== undefined) await writeFile(output, `${JSON.stringify(suite, null, 2)}\n`);
const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((verdict) =>
  countOf(agents, verdict),
);
process.stdout.write(`${passed} steps passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
