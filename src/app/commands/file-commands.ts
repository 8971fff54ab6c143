import type { ActionManifest } from '../../core/spec.ts';
import type { Command } from '../../surfaces/cli/command.ts';
import type { CliIo } from '../../surfaces/cli/io.ts';
import type { App } from '../app.ts';
import { auditExport, auditVerify } from './audit.ts';
import { keyCommands } from './auth-key.ts';
import { madeOfCalls } from './catalog-calls.ts';
import { fileCommands } from './file.ts';
import { mcpServerCommands } from './mcp-servers.ts';
import { policyDiff, policyExport } from './policy.ts';
import { policyImport } from './policy-import.ts';

/** The commands of the catalog, and those that work with files or with this device's key: they take the place of the command of the same path. */
export function withFileCommands(
  app: App,
  catalog: readonly Command[],
  manifests: readonly ActionManifest[],
  io: CliIo,
): Command[] {
  const texts = [policyExport, policyDiff, policyImport, auditExport, auditVerify].map((toCommand) =>
    madeOfCalls(toCommand({ catalog, actionIds: manifests.map(({ id }) => id), io })),
  );
  const own = [
    ...texts,
    ...fileCommands(app, io, catalog),
    ...keyCommands(app, io, catalog),
    ...mcpServerCommands(app, io, catalog),
  ];
  const replaced = new Set(own.map(({ path }) => path));
  return [...catalog.filter(({ path }) => !replaced.has(path)), ...own];
}
