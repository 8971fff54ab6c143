import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PERMISSION_MODES } from '../src/core/session.ts';
import { REAL_AGENTS } from '../src/daemon/agents/real-agents.ts';
import type { AgentResult, SuiteResult, Verdict } from '../test/agents/result.ts';
import { STEPS } from '../test/agents/steps/index.ts';
import { AFTERWARDS, INTRODUCTION } from './agents-prose.ts';
import { root } from './registry.ts';

/** What the suite of agents found when it was last recorded. */
export const RESULTS = join(root, 'test/agents/results.json');

const SIGNS: Record<Verdict, string> = { passed: 'yes', failed: '**no**', skipped: '–' };

const definitionOf = (agentId: string) => REAL_AGENTS.find((agent) => agent.agentId === agentId)!;
const row = (cells: string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: string[], rows: string[][]): string[] => [
  row(head),
  row(head.map(() => '---')),
  ...rows.map(row),
  '',
];
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

function featureTable(agents: AgentResult[]): string[] {
  const rows = STEPS.map(({ step, shows }) => [
    shows,
    ...agents.map(({ steps }) => {
      const found = steps.find((one) => one.step === step);
      return found === undefined ? '' : SIGNS[found.verdict];
    }),
  ]);
  return table(['what', ...agents.map(({ agentId }) => agentId)], rows);
}

/** In words, what an agent was found to lack. */
function lacks(agent: AgentResult): string[] {
  const missing = agent.steps.filter(({ verdict }) => verdict !== 'passed');
  const { name } = definitionOf(agent.agentId);
  if (agent.verdict === 'skipped') return [`- **${name}** was not measured: ${agent.reason}.`];
  if (missing.length === 0) return [`- **${name}** lacks nothing of it.`];
  const words = missing.map(({ step, verdict, reason = 'unknown' }) =>
    verdict === 'failed' ? `**${step}** failed: ${cell(reason)}` : `${step}: ${cell(reason)}`,
  );
  return [`- **${name}**: ${words.join('; ')}.`];
}

function installTable(agents: AgentResult[]): string[] {
  const rows = agents.map(({ agentId, package: pinned, version }) => {
    const { name, install = '', signIn = '' } = definitionOf(agentId);
    return [`${name} (\`${agentId}\`)`, `${pinned} ${version}`, `\`${install}\``, cell(signIn)];
  });
  return table(['agent', 'measured', 'install', 'sign in'], rows);
}

function modeTable(agents: AgentResult[]): string[] {
  const rows = agents.map(({ agentId }) => {
    const { modes } = definitionOf(agentId);
    return [
      agentId,
      ...PERMISSION_MODES.map((mode) => modes[mode]?.map((id) => `\`${id}\``).join(', ') ?? '–'),
    ];
  });
  return table(['agent', ...PERMISSION_MODES.map((mode) => `\`${mode}\``)], rows);
}

async function render(): Promise<string> {
  const { node, platform, agents } = JSON.parse(await readFile(RESULTS, 'utf8')) as SuiteResult;
  return [
    ...INTRODUCTION,
    ...installTable(agents),
    '## Measured',
    '',
    `By \`npm run test:agents\` on Node ${node}, ${platform}. “–”: the agent has no such thing; below in words.`,
    '',
    ...featureTable(agents),
    ...agents.flatMap(lacks),
    '',
    '## Permission modes',
    '',
    'Our modes and those of the agent that stand for them. A mode that an agent lacks is refused by name, never replaced. What an agent asks is',
    "judged by our mode as well: in `read_only` the daemon refuses every change, whatever the agent's own mode would let through.",
    '',
    ...modeTable(agents),
    ...AFTERWARDS,
  ].join('\n');
}

export const agentsPage = { file: join(root, 'docs/agents.md'), render };
