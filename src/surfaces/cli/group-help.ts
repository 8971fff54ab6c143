import type { Command } from './command.ts';
import { definitions, globalFlags, type HelpStyle, paragraph, section, widest } from './help-text.ts';

type Line = [name: string, text: string];

const INTRO = 'Kaiwu runs coding agents on your machines and lets you steer them from anywhere.';

interface Group {
  title: string;
  lines: Line[];
}

/** Help of everything: what works on this machine, one line a group; then the actions by family, the largest first. */
export function overviewHelp(commands: readonly Command[], style: HelpStyle): string {
  const { program, width } = style;
  const families = toFamilies(commands);
  const names = Math.max(0, ...families.map(({ lines }) => widest(lines)));
  const flags: Line[] = [...globalFlags(style), ['-v, --version', 'Show the version.']];
  return [
    ...paragraph(INTRO, width),
    ...section('Usage', [`  ${program} <command> [flags]`], style),
    ...section('This machine', definitions(toMachineLines(commands), width), style),
    ...families.flatMap(({ title, lines }) => section(title, definitions(lines, width, names), style)),
    ...section('Everywhere', definitions(flags, width), style),
    '',
    ...paragraph(
      `More: \`${program} daemon --help\` for a group, \`${program} session list --help\` for a command.`,
      width,
    ),
  ].join('\n');
}

/** Help of a group of commands. */
export function groupHelp(path: string, below: readonly Command[], style: HelpStyle): string {
  const { program, width } = style;
  return [
    ...section('Usage', [`  ${program} ${path} <command> [flags]`], style).slice(1),
    ...section('Commands', definitions(toLines(below), width), style),
    ...section('Everywhere', definitions(globalFlags(style), width), style),
    '',
    `More: \`${program} ${below[0]?.path ?? path} --help\` for a command.`,
  ].join('\n');
}

/** Actions have their own place below, also those of a group that has more to it here. */
function toMachineLines(commands: readonly Command[]): Line[] {
  const here = commands.filter(({ title }) => title === undefined);
  const groups = new Set(here.map(familyOf));
  return [...groups].map((family): Line => {
    const [first, ...others] = here.filter((command) => familyOf(command) === family);
    if (first !== undefined && others.length === 0) return [first.path, first.summary];
    const verbs = [first, ...others].map((command) => command?.path.slice(family.length + 1));
    return [family, verbs.join(', ')];
  });
}

/** Families of one action share a group. */
function toFamilies(commands: readonly Command[]): Group[] {
  const actions = commands.filter(({ title }) => title !== undefined);
  const families = new Map<string, Command[]>();
  for (const command of actions) {
    const family = familyOf({ path: command.sameAs ?? command.path });
    families.set(family, [...(families.get(family) ?? []), command]);
  }
  const groups = [...families]
    .map(([family, members]) => ({ title: family, lines: toLines(members) }))
    .sort((a, b) => b.lines.length - a.lines.length);
  const large = groups.filter(({ lines }) => lines.length > 1);
  const small = groups.filter(({ lines }) => lines.length === 1);
  const rest = { title: 'others', lines: small.flatMap(({ lines }) => lines) };
  return [...large, rest].map(({ title, lines }) => ({
    title: title.charAt(0).toUpperCase() + title.slice(1),
    lines,
  }));
}

/** One line a command, its further names on the same one. */
function toLines(commands: readonly Command[]): Line[] {
  const isFurther = ({ sameAs }: Command) => commands.some(({ path }) => path === sameAs);
  return commands
    .filter((command) => !isFurther(command))
    .map((command) => {
      const further = commands.filter(({ sameAs }) => sameAs === command.path);
      const names = [command, ...further].map(({ path }) => path).join(', ');
      return [names, command.title ?? command.summary];
    });
}

const familyOf = ({ path }: Pick<Command, 'path'>): string => path.split(' ')[0] ?? path;
