import { CONTROLS } from './controls.ts';
import { LIFE } from './life.ts';
import { OWN_TOOLS } from './own-tools.ts';
import { PERMISSIONS } from './permissions.ts';
import type { Step } from './step.ts';
import { TALK } from './talk.ts';

/** In the order in which they run; each goes on from where the one before left the session. */
export const STEPS: Step[] = [
  TALK.detect,
  TALK.spawn,
  TALK.version,
  TALK.message,
  TALK.stream,
  TALK.mcpHost,
  TALK.thoughts,
  TALK.title,
  TALK.usage,
  PERMISSIONS.allow,
  PERMISSIONS.deny,
  OWN_TOOLS.changeTitle,
  OWN_TOOLS.sendFile,
  OWN_TOOLS.discover,
  OWN_TOOLS.noEscalation,
  PERMISSIONS.readOnly,
  PERMISSIONS.free,
  PERMISSIONS.diff,
  PERMISSIONS.bypass,
  CONTROLS.setting,
  CONTROLS.question,
  CONTROLS.queue,
  CONTROLS.steer,
  CONTROLS.interrupt,
  CONTROLS.replace,
  LIFE.second,
  LIFE.fork,
  // These may leave an agent in a state of its own.
  CONTROLS.model,
  TALK.failure,
  LIFE.resume,
  LIFE.stop,
];
