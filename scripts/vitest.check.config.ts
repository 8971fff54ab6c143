import { defineConfig } from 'vitest/config';
import { root } from './registry.ts';

/** The architecture test reads sources only, so it needs no build. */
export default defineConfig({ test: { root, include: ['test/architecture/**/*.test.ts'] } });
