import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Api } from '../../helpers/api.ts';

const FAKE = join(import.meta.dirname, '../../../managed/fakes/server.mjs');

/** Program and arguments of a fake server that behaves as told: see test/managed/fakes/server.mjs. */
export const fakeProgram = (how: object): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [FAKE, JSON.stringify(how)],
});

/** A tool of it. */
export const toolOf = (name: string, description: string, more: object = {}): object => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { to: { type: 'string', description: 'Whom' } } },
  ...more,
});

/** Adds a fake server that runs in the backend. */
export const addFake = (api: Api, name: string, how: object, more: object = {}): Promise<unknown> =>
  api.output('mcp.server.add', { name, where: 'backend', ...fakeProgram(how), ...more });

/** From now on the server behaves otherwise. */
export const changeFake = (api: Api, name: string, how: object): Promise<unknown> =>
  api.output('mcp.server.update', { name, args: fakeProgram(how).args });

export const cardOf = (page: Page, name: string): Locator =>
  page.locator('article.server', { has: page.getByRole('heading', { name, exact: true }) });

/** What went wrong in a browser beside answers that say no: those are part of these tests, and shown by the page. */
export const unexpected = (problems: string[]): string[] =>
  problems.filter((problem) => !problem.startsWith('Failed to load resource'));
