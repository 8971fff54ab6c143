import type { Command } from '../../surfaces/cli/command.ts';
import { toVoiceTools } from '../../surfaces/voice/tools.ts';
import { VOICE_FORMATS } from '../../surfaces/voice/vendors.ts';
import type { App } from '../app.ts';
import { openBackend, resolveTarget } from '../connection.ts';
import { choice, toLocalCommand } from './local-command.ts';

export function voiceCommands(app: App): Command[] {
  return [
    toLocalCommand({
      path: 'voice tools',
      summary: 'Print the tools for a voice model, to be pasted where its vendor takes them.',
      description: 'They follow the policy for surface voice. docs/voice.md tells how a bridge calls them.',
      fields: { format: choice('Vendor whose form to print.', VOICE_FORMATS) },
      positionals: ['format'],
      required: ['format'],
      examples: [{ title: 'For OpenAI Realtime', input: { format: 'openai-realtime' } }],
      errors: ['not_authenticated', 'backend_unreachable', 'invalid_input'],
      async run({ format }, { flags, signal }) {
        const client = await openBackend(app, await resolveTarget(app, flags, true));
        const answer = await client.catalog('voice', undefined, signal);
        if (answer.unchanged) return {};
        return toVoiceTools(answer.catalog, format as string);
      },
      toText: ({ tools }) => `${JSON.stringify(tools, null, 2)}\n`,
    }),
  ];
}
