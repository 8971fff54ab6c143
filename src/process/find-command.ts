import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The program that a command starts. @param path the variable PATH */
export function findCommand(command: string, path: string): string | undefined {
  const candidates = isAbsolute(command)
    ? [command]
    : path
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, command));
  return candidates.find(isProgram);
}

/** Why a command starts nothing, to follow a colon. @param whose whose PATH it is not on */
export function whyMissing(command: string, whose: string): string {
  if (!isAbsolute(command)) return `there is no program ${command} on ${whose} PATH`;
  const found = statSync(command, { throwIfNoEntry: false });
  if (found === undefined) return `there is no file ${command}`;
  return found.isFile() ? `${command} is not executable (chmod +x)` : `${command} is no file`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
