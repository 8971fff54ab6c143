/** A process that decides: `torture-decider.ts HOME`. Tells its parent each answer; ends when told to and nothing is pending. */
import { randomUUID } from 'node:crypto';
import type { Approval, ApprovalDecision } from '../../../src/core/approval.ts';
import { createPatientClient } from './torture-client.ts';

/** What a decider tells its parent: what it asked for and what it was told. */
export interface Decided {
  artifactId: string;
  decision: ApprovalDecision;
  /** Absent when it was refused. */
  executed?: boolean;
  /** Status in the answer, else the code of the refusal. */
  answer: string;
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!;

const client = createPatientClient(process.argv[2]!);
let last = false;
process.on('message', () => {
  last = true;
});
// Without its parent it has no business here.
process.on('disconnect', () => process.exit());

async function decide(artifactId: string, decision: ApprovalDecision): Promise<Decided> {
  const envelope = await client.call(
    'approval.request.decide',
    { artifactId, decision },
    { key: randomUUID() },
  );
  if (envelope.status !== 'ok') {
    return { artifactId, decision, answer: envelope.status === 'error' ? envelope.error.code : 'asked' };
  }
  const { executed, approval } = envelope.output as { executed: boolean; approval: Approval };
  return { artifactId, decision, executed, answer: approval.status };
}

for (;;) {
  // Read before the list, so that what was filed until then is in it.
  const isLast = last;
  const { approvals } = (await client.output('approval.request.list', { status: 'pending', limit: 12 })) as {
    approvals: Approval[];
  };
  if (approvals.length === 0) {
    if (isLast) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
    continue;
  }
  // Every third time the one that all others see first.
  const { artifactId } = Math.random() < 0.33 ? approvals[0]! : pick(approvals);
  // And now and then with two windows open.
  const windows = Math.random() < 0.3 ? 2 : 1;
  const decisions = Array.from({ length: windows }, () => (Math.random() < 0.7 ? 'approve' : 'deny'));
  for (const decided of await Promise.all(decisions.map((decision) => decide(artifactId, decision)))) {
    process.send!(decided);
  }
}
process.disconnect();
