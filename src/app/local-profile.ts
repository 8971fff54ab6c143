import { inspectProcess, type ProcessReport, type UpState, upStateSchema } from '../local/process-state.ts';
import type { App } from './app.ts';

/** Profile of the backend that runs in this home. */
export const LOCAL_PROFILE = 'local';

/** The supervisor of this home's backend and, mostly, daemon. */
export const inspectUp = (app: App): Promise<ProcessReport<UpState>> =>
  inspectProcess(app.paths.up.state, upStateSchema, app.processes, async () => true);
