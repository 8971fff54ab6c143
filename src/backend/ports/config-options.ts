import { KaiwuError } from '../../core/errors.ts';
import type { SessionControlPort } from '../../core/ports/sessions.ts';
import type { ConfigOption } from '../../core/session.ts';
import type { SessionStore } from '../store/store.ts';
import type { AskMachine } from './ask-machine.ts';
import { isAgent } from './escalation.ts';
import { getOpen } from './get-open.ts';

/** Sets what an agent offers beside mode and model. What such a setting means, only the agent knows, so an agent sets none. */
export function createSetConfigOption(options: {
  sessions: SessionStore;
  ask: AskMachine;
}): SessionControlPort['setConfigOption'] {
  const { sessions, ask } = options;
  return async (sessionId, configId, value, caller) => {
    if (isAgent(caller) && caller.approved !== true) {
      throw new KaiwuError('permission_escalation_denied', 'An agent cannot change settings of a session.', {
        hint: 'A person can, from the app or the CLI.',
      });
    }
    const { machineId, agentId, configOptions = [] } = await getOpen(sessions, sessionId);
    const option = configOptions.find((each) => each.configId === configId);
    if (option === undefined) throw notOffered(agentId, configId, configOptions);
    await ask(
      machineId,
      'session.set_config_option',
      { sessionId, configId, value: toValue(option, value) },
      caller,
    );
    return sessions.get(sessionId);
  };
}

/** Callers that know only texts say `true` and `false`. @throws invalid_input */
function toValue({ configId, kind, options }: ConfigOption, value: string | boolean): string | boolean {
  if (kind === 'boolean') {
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    throw invalid('value', `of ${configId} must be true or false`, value, 'It is on or off.');
  }
  if (options.some((option) => option.id === value)) return value;
  const ids = options.map((option) => option.id).join(', ');
  throw invalid('value', `is none that ${configId} offers`, value, `It offers: ${ids}.`);
}

const notOffered = (agentId: string, configId: string, options: ConfigOption[]) =>
  invalid(
    'configId',
    `is no setting of this session of ${agentId}`,
    configId,
    `It has: ${options.map((option) => option.configId).join(', ') || 'none'}.`,
  );

function invalid(path: string, message: string, received: string | boolean, hint: string): KaiwuError {
  const shown = JSON.stringify(String(received).slice(0, 80));
  return new KaiwuError('invalid_input', `${path} ${message}: received ${shown}.`, {
    hint,
    details: { issues: [{ path, message, received: shown }] },
  });
}
