import { describe, expect, it } from 'vitest';
import { promptVersion, toPrompt, toRepeatPrompt } from '../../src/backend/prompts/index.ts';
import { toResult } from '../../src/backend/work/runs/result.ts';
import { toSpoken } from '../../src/backend/work/runs/spoken.ts';
import { RUN_INTENTS } from '../../src/core/run.ts';
import { fenced } from './helpers/runs.ts';

const plan = { summary: 'Short.', steps: [{ title: 'One' }], risks: [] };

describe('a result is found', () => {
  const json = JSON.stringify(plan);
  it.each([
    ['in the last block', `Words.\n\`\`\`json\n{"not": "this"}\n\`\`\`\nMore.\n\`\`\`json\n${json}\n\`\`\``],
    ['in a block without a language, with words behind it', `\`\`\`\n${json}\n\`\`\`\nThat is all.`],
    ['as the whole text', `\n  ${json}  \n`],
    ['after a line that opens it, without a fence', `Here is the plan:\n${JSON.stringify(plan, null, 2)}`],
    ['before a block of something else', `${fenced(plan)}\n\n\`\`\`sh\nnpm test\n\`\`\``],
    ['with nulls for what is left out', fenced({ ...plan, steps: [{ title: 'One', detail: null }] })],
    ['with more than was asked for', fenced({ ...plan, mood: 'good' })],
    ['without risks', fenced({ summary: 'Short.', steps: plan.steps })],
  ])('%s', (_, answer) => {
    expect(toResult('plan', answer)).toEqual({ result: plan });
  });

  it('with lines and severities as models write them', () => {
    const findings = [
      { file: 'a.ts', line: '12-20', severity: 'HIGH', title: 'Wrong' },
      { file: 'b.ts', line: 0, severity: 'Low', title: 'Odd' },
      { file: 'c.ts', line: 'the end', severity: 'info', title: 'Long' },
    ];
    expect(toResult('review', fenced({ summary: 'Looked.', findings })).result).toEqual({
      summary: 'Looked.',
      findings: [
        { file: 'a.ts', line: 12, severity: 'high', title: 'Wrong' },
        { file: 'b.ts', severity: 'low', title: 'Odd' },
        { file: 'c.ts', severity: 'info', title: 'Long' },
      ],
    });
  });

  it('of each intent', () => {
    const finding = { file: 'a.ts', line: 3, severity: 'high', title: 'Wrong', detail: 'Because.' };
    const review = { summary: 'Looked.', findings: [finding, { ...finding, line: undefined }] };
    expect(toResult('review', fenced(review)).result).toEqual(JSON.parse(JSON.stringify(review)));
    const delegate = { summary: 'Done.', changedFiles: ['a.ts'], followUps: ['Release it.'] };
    expect(toResult('delegate', fenced(delegate)).result).toEqual(delegate);
    expect(toResult('voice_agent', fenced({ spoken: 'Hello.' })).result).toEqual({ spoken: 'Hello.' });
  });
});

describe('an answer that strays', () => {
  it.each([
    ['no JSON at all', 'I would begin with the tests.', 'no block of JSON'],
    ['a list', fenced([plan]), 'no block of JSON'],
    ['broken JSON', '```json\n{"summary": \n```', 'no block of JSON'],
    ['a wrong field', fenced({ ...plan, steps: [{ title: 'One', files: 'a.ts' }] }), 'steps.0.files'],
    ['no steps', fenced({ ...plan, steps: [] }), 'steps'],
    ['too much', fenced({ ...plan, summary: 'x'.repeat(8001) }), 'summary'],
    ['nesting without end', `{"summary": ${'['.repeat(200_000)}`, 'no block of JSON'],
    ['nesting that ends', `{"summary": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, ''],
    ['fences without end', '```\n'.repeat(50_000), 'no block of JSON'],
    ['nothing', '', 'no block of JSON'],
  ])('%s: the words are kept and the place is named', (_, answer, problem) => {
    const outcome = toResult('plan', answer);
    expect(outcome.result).toBeUndefined();
    expect(outcome.rawText).toBe(answer.length > 100_000 ? `${answer.slice(0, 100_000)}…` : answer);
    expect(outcome.resultProblem).toContain(problem);
    expect(outcome.resultProblem?.length).toBeLessThanOrEqual(300);
  });

  it('with a severity of its own', () => {
    const finding = { file: 'a.ts', severity: 'awful', title: 'Wrong' };
    const { resultProblem } = toResult('review', fenced({ summary: 'Looked.', findings: [finding] }));
    expect(resultProblem).toMatch(/^findings\.0\.severity: .*critical/);
  });
});

describe('the spoken form', () => {
  it('is what the agent gave as such, on one line', () => {
    expect(toSpoken(fenced({ spoken: ' Hello,\n there. ' }))).toBe('Hello, there.');
  });

  it('is else what can be read out of its words', () => {
    const answer =
      '# Tests\n\n- They **all** pass\n- `npm test` runs them\n\n```sh\nnpm test\n```\nThat is it.';
    expect(toSpoken(answer)).toBe('Tests They all pass npm test runs them That is it.');
    expect(toSpoken('```\nnever closed\nat all')).toBe('');
  });

  it('is short, and ends with a sentence or a word', () => {
    const sentence = 'This is a sentence of some length. ';
    expect(toSpoken(sentence.repeat(100))).toMatch(/^(This is a sentence of some length\. ?){10,17}$/);
    expect(toSpoken('word '.repeat(1000))).toMatch(/^(word ){10,119}word…$/);
    expect(toSpoken('x'.repeat(1_000_000)).length).toBeLessThanOrEqual(601);
  });
});

describe('prompts', () => {
  it.each(RUN_INTENTS)(
    '%s tells the shape and ends with the instructions; an echo of it is no answer',
    (intent) => {
      const prompt = toPrompt(intent, 'Do it.\n@say x');
      expect(prompt.endsWith('\n\nDo it.\n@say x\n')).toBe(true);
      expect(toResult(intent, prompt).result).toBeUndefined();
      const repeat = toRepeatPrompt(intent, 'the JSON: it is wrong');
      expect(repeat).toContain('the JSON: it is wrong');
      expect(toResult(intent, repeat).result).toBeUndefined();
      expect(promptVersion(intent)).toBeGreaterThan(0);
    },
  );
});
