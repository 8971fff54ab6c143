import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { RECIPES } from '../test/agents/recipes.ts';
import { type AgentResult, countOf, type SuiteResult } from '../test/agents/result.ts';
import { measureAgent, skippedAgent } from '../test/agents/scenario.ts';
import { agentsPage, RESULTS } from './agents-page.ts';
import { root } from './registry.ts';

/**
 * `npm run test:agents [-- NAMES...]`: real agents, a fake model, and everything that Kaiwu promises of them.
 * `--record` keeps the result and writes docs/agents.md from it; `--output=FILE` writes it elsewhere too.
 */

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: {
    record: { type: 'boolean', default: false },
    output: { type: 'string', default: join(root, '.cache/agents-result.json') },
    'limit-minutes': { type: 'string', default: '20' },
    verbose: { type: 'boolean', default: false },
  },
});
const known = RECIPES.map(({ agentId }) => agentId);
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0 || (values.record && names.length > 0)) {
  const what = unknown.length > 0 ? `No agent ${unknown.join(', ')}` : '--record needs all agents';
  process.stderr.write(`${what}: use ${known.join(', ')}, or none for all.\n`);
  process.exit(2);
}
// What was started ends with this process, also when it is told to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (process.env.KAIWU_TEST_SKIP_BUILD === undefined) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}
const until = performance.now() + Number(values['limit-minutes']) * 60_000;
const agents: AgentResult[] = [];
for (const recipe of RECIPES.filter(({ agentId }) => names.length === 0 || names.includes(agentId))) {
  const startedAt = performance.now();
  const result =
    startedAt < until
      ? await measureAgent(recipe, { until, onStep: values.verbose ? tell(recipe.agentId) : undefined })
      : skippedAgent(recipe, 'no time was left');
  agents.push(result);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stderr.write(`${seconds} s\n`);
  process.stdout.write(
    `agent ${result.agentId}: ${result.verdict}${result.reason ? ` (${result.reason})` : ''}\n`,
  );
  for (const { step, reason } of result.steps.filter(({ verdict }) => verdict === 'failed')) {
    process.stdout.write(`  ${step}: ${reason}\n`);
  }
}

const suite: SuiteResult = { node: process.version, platform: `${process.platform}-${process.arch}`, agents };
const json = `${JSON.stringify(suite, null, 2)}\n`;
await mkdir(dirname(values.output), { recursive: true });
await writeFile(values.output, json);
if (values.record) {
  await writeFile(RESULTS, json);
  await writeFile(agentsPage.file, await agentsPage.render());
}
const count = (verdict: 'passed' | 'failed' | 'skipped') => countOf(agents, verdict);
process.stdout.write(
  `${count('passed')} steps passed, ${count('failed')} failed, ${count('skipped')} skipped\n`,
);
process.exitCode = count('failed') === 0 ? 0 : 1;

function tell(agentId: string) {
  return ({ step, verdict, reason, ms }: AgentResult['steps'][number]) =>
    process.stderr.write(`  ${agentId} ${step}: ${verdict} ${reason ?? ''} ${ms ?? ''}\n`);
}
