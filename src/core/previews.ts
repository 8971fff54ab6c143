import type { Catalog } from './catalog.ts';
import { KaiwuError } from './errors.ts';
import { applyPatch, type PolicyDocument, resolvePolicy, toPolicyPatch } from './policy.ts';
import type { AuditPort, AuditRow, PoliciesPort } from './ports/governance.ts';
import type { Preview, PreviewsPort, Replayed } from './ports/previews.ts';
import type { Runtime } from './ports/stores.ts';
import { type Surface, SURFACES } from './spec.ts';

/** Most calls that are replayed, newest first. */
const MAX_CALLS = 20_000;
const PAGE = 200;
const MAX_EXAMPLES = 5;

export function createPreviews(options: {
  catalog: Catalog;
  policies: PoliciesPort;
  audit: AuditPort;
  runtime: Pick<Runtime, 'now'>;
}): PreviewsPort {
  const { catalog, policies, audit, runtime } = options;

  async function replay(before: PolicyDocument, after: PolicyDocument, days: number): Promise<Preview> {
    const since = new Date(runtime.now().getTime() - days * 86_400_000).toISOString();
    const preview: Preview = {
      calls: 0,
      complete: true,
      newlyRefused: none(),
      newlyAsking: none(),
      newlyUnattended: none(),
    };
    for (let cursor: string | undefined; ; ) {
      const { items, nextCursor } = await audit.list({ since }, { limit: PAGE, cursor });
      for (const row of items) weigh(row, before, after, preview);
      if (nextCursor === undefined) return preview;
      if (preview.calls >= MAX_CALLS) return { ...preview, complete: false };
      cursor = nextCursor;
    }
  }

  /** Judges a past call by both documents. What asked and was then carried out has a row for each; only the call counts. */
  function weigh(row: AuditRow, before: PolicyDocument, after: PolicyDocument, preview: Preview): void {
    const carriedOut = row.approvalId !== undefined && row.outcome !== 'approval_required';
    const surface = SURFACES.find((known) => known === row.surface);
    const action = catalog.known(row.actionId);
    if (carriedOut || surface === undefined || action === undefined) return;
    preview.calls++;
    const was = resolvePolicy(before, action, surface).outcome;
    const becomes = resolvePolicy(after, action, surface).outcome;
    if (was === becomes) return;
    if (becomes === 'refused') count(preview.newlyRefused, row, surface);
    else if (becomes === 'asks') count(preview.newlyAsking, row, surface);
    else if (action.effect !== 'read') count(preview.newlyUnattended, row, surface);
  }

  return {
    async preview({ rules, document, days }) {
      if ((rules === undefined) === (document === undefined)) {
        throw new KaiwuError(
          'invalid_input',
          'A preview takes either rules (changes) or a document, not both or none.',
          {
            details: { issues: [{ path: 'rules', message: 'give either rules or document' }] },
          },
        );
      }
      const before = await policies.get();
      const after =
        rules === undefined ? { ...before, ...document } : applyPatch(before, toPolicyPatch(rules));
      return replay(before, after, days);
    },
    async replace({ document, confirmUnattended, days }, caller) {
      toPolicyPatch(document.rules);
      const before = await policies.get();
      if (document.version !== before.version) throw olderVersion(document.version, before.version);
      const preview = await replay(before, document, days);
      const { count: unattended } = preview.newlyUnattended;
      if (unattended > 0 && !confirmUnattended) throw needsConfirmation(preview);
      const next = await policies.replace(document, document.version, caller.client);
      return { ...next, preview };
    },
  };
}

const none = (): Replayed => ({ count: 0, examples: [] });

function count(into: Replayed, { at, actionId, client }: AuditRow, surface: Surface): void {
  into.count++;
  if (into.examples.length < MAX_EXAMPLES) into.examples.push({ at, actionId, surface, client });
}

const olderVersion = (made: number, current: number) =>
  new KaiwuError(
    'conflict',
    `The document was made from version ${made}; the policy is at version ${current} now.`,
    {
      hint: 'Export the policy again, repeat your changes in it, and import that.',
      details: { version: current, received: made },
    },
  );

const needsConfirmation = (preview: Preview) =>
  new KaiwuError(
    'confirmation_required',
    `By the calls of late, ${preview.newlyUnattended.count} changes would have run that a person had to allow before.`,
    {
      hint: 'Look at them, then import again with confirmUnattended (--confirm-unattended). Nothing was changed.',
      details: { preview },
    },
  );
