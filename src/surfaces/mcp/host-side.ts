import type { Logger } from '../../core/ports/host.ts';
import type { ActionManifest } from '../../core/spec.ts';
import type { BackendLink } from './backend-link.ts';
import { type BuiltinAnswers, createHostRequests, type HostRequests } from './host-requests.ts';
import { createSubscriptions, type Subscriptions } from './subscriptions.ts';
import type { Timing } from './timing.ts';
import type { ToolCalls } from './tool-calls.ts';

/** Resources, prompts and completion, as one caller gets them. */
export interface HostSide extends Pick<HostRequests, 'answer'> {
  subscribe(onUpdate: (uri: string, holders: ReadonlySet<string>) => void): Subscriptions;
}

export function createHostSide(options: {
  backend: BackendLink;
  calls: Pick<ToolCalls, 'ask'>;
  builtin(): Promise<ActionManifest[]>;
  builtinAnswers(): Promise<BuiltinAnswers>;
  log: Logger;
  timing: Timing;
  random(): number;
}): HostSide {
  const { answer, read } = createHostRequests(options);
  return {
    answer,
    subscribe: (onUpdate) => createSubscriptions({ ...options, read, onUpdate }),
  };
}
