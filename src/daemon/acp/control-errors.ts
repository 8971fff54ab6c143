import { KaiwuError } from '../../core/errors.ts';
import type { ConfigOption, PermissionMode } from '../../core/session.ts';
import type { AgentDefinition } from '../agents/agents.ts';
import { toModeFault, toPermissionModes } from '../agents/known-modes.ts';

/** Most models, settings or values that an error names. */
const MAX_NAMED = 100;

/** Names the modes that can be had instead. */
export function unsupportedMode(
  definition: Pick<AgentDefinition, 'agentId' | 'name' | 'modes' | 'source' | 'guessedModes'>,
  mode: PermissionMode,
  offered?: string[],
): KaiwuError {
  const { name } = definition;
  const modes = toPermissionModes(definition, offered).filter(
    (one) =>
      one !== mode && (isAdded(definition) || offered === undefined || offers(definition, one, offered)),
  );
  const fault = toModeFault(definition, offered, [mode]);
  const message = `${name} has no mode for ${mode}`;
  const other = modes.length > 0 ? `Use one of ${modes.join(', ')}` : 'Use the mode default';
  const again = `, or add it again (\`agents remove ${definition.agentId}\` first) with another --mode`;
  return new KaiwuError('unsupported', fault === undefined ? `${message}.` : `${message}: ${fault}.`, {
    hint: `${other}${fault === undefined ? '' : again}.`,
    details: { permissionMode: mode, offered: modes, agentModes: offered },
  });
}

const isAdded = ({ source }: Pick<AgentDefinition, 'source'>): boolean => source === 'added';

const offers = ({ modes }: Pick<AgentDefinition, 'modes'>, mode: PermissionMode, offered: string[]) =>
  modes[mode]?.some((id) => offered.includes(id)) === true;

export function unknownModel(agentName: string, modelId: string, offered: string[]): KaiwuError {
  if (offered.length === 0) {
    return new KaiwuError(
      'unsupported',
      `${agentName} does not let its model be chosen: received ${modelId}.`,
      { hint: 'Leave the model out, or set it in the agent’s own settings.' },
    );
  }
  return notOffered(`${agentName} offers no model ${JSON.stringify(modelId)}`, 'modelId', modelId, offered);
}

export function unknownOption(agentName: string, configId: string, offered: ConfigOption[]): KaiwuError {
  if (offered.length === 0) {
    return new KaiwuError('unsupported', `${agentName} offers no settings: received ${configId}.`, {
      hint: 'Set it in the agent’s own settings.',
    });
  }
  const message = `${agentName} offers no setting ${JSON.stringify(configId)}`;
  return notOffered(
    message,
    'configId',
    configId,
    offered.map((option) => option.configId),
  );
}

export function unknownValue(option: ConfigOption, value: unknown): KaiwuError {
  const offered = option.kind === 'boolean' ? ['true', 'false'] : option.options.map(({ id }) => id);
  const message = `${option.name} cannot be ${JSON.stringify(value)}`;
  return notOffered(message, 'value', value, offered);
}

function notOffered(message: string, path: string, received: unknown, all: string[]): KaiwuError {
  const offered = all.slice(0, MAX_NAMED);
  return new KaiwuError('invalid_input', message, {
    hint: `Use one of ${offered.join(', ')}.`,
    details: { issues: [{ path, message, received }], offered },
  });
}
