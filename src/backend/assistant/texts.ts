import type { HostPrompt, TextsPort } from '../../core/ports/assistant.ts';
import { readPage } from './front-matter.ts';
import { TEXTS } from './texts.generated.ts';

const PROMPTS = 'prompts/';

/** `name (What it is), other (What it is)` */
const ARGUMENT = /(\w+) \(([^)]*)\)/g;

function toPrompt(name: string, text: string): HostPrompt {
  const { head, body } = readPage(text);
  return {
    name,
    title: head['title'] ?? name,
    description: head['description'] ?? '',
    arguments: [...(head['arguments'] ?? '').matchAll(ARGUMENT)].map(([, argument, description]) => ({
      name: argument!,
      description: description!,
    })),
    text: body,
  };
}

const prompts = Object.entries(TEXTS)
  .filter(([name]) => name.startsWith(PROMPTS))
  .map(([name, text]) => toPrompt(name.slice(PROMPTS.length), text));

export const texts: TextsPort = {
  about: (name) => (name.includes('/') || !Object.hasOwn(TEXTS, name) ? undefined : TEXTS[name]),
  aboutNames: () => Object.keys(TEXTS).filter((name) => !name.includes('/')),
  prompts: () => prompts,
};
