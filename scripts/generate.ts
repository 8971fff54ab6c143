import { writeRegistry } from './registry.ts';

await writeRegistry();
