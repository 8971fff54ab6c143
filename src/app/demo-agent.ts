import { randomUUID } from 'node:crypto';
import { runDemoAgent } from '../daemon/demo/demo-agent.ts';
import { VERSION } from './version.ts';

await runDemoAgent({
  input: process.stdin,
  output: process.stdout,
  version: VERSION,
  folder: process.argv[2],
  newId: () => randomUUID(),
  exit: (code) => process.exit(code),
});
process.exit(0);
