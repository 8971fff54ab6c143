import { redactText } from './redact.ts';
import { toShortText, toVisibleText } from './visible-text.ts';

/** Characters of a stranger's own words that are shown. */
const QUOTED = 200;

/** Words of a stranger for a message: one line, bounded, nothing invisible, nothing that looks like a secret. */
export const quote = (text: string): string =>
  JSON.stringify(
    toShortText(toVisibleText(redactText(text.slice(0, 10 * QUOTED)), { singleLine: true }), QUOTED),
  );
