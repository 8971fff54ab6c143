import stripJsonComments from 'strip-json-comments';
import { KaiwuError } from '../errors.ts';
import { findJsonFault } from '../json-position.ts';
import { SERVER_LIMITS } from './limits.ts';

/**
 * JSON as people keep it in files: comments and a byte-order mark are taken, anything else that is no JSON is refused with its place.
 * @throws invalid_input | payload_too_large over 4 MiB
 */
export function readJsonc(text: string): unknown {
  if (
    text.length > SERVER_LIMITS.fileBytes ||
    new TextEncoder().encode(text).length > SERVER_LIMITS.fileBytes
  ) {
    throw new KaiwuError('payload_too_large', 'A configuration of MCP servers has at most 4 MiB.', {
      hint: 'Split it, or take out what is no server.',
    });
  }
  // Comments become spaces, so that the places of everything else stay.
  const plain = stripJsonComments(text.replace(/^\uFEFF/, ''));
  if (plain.trim() === '') return undefined;
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    const { position, line, column } = findJsonFault(plain);
    // One character shows the fault and can be no secret.
    const got = position < plain.length ? JSON.stringify(plain.charAt(position)) : 'the end of the text';
    throw new KaiwuError(
      'invalid_input',
      `The configuration of MCP servers is no JSON: line ${line}, column ${column} has ${got}, which cannot stand there.`,
      {
        hint: 'Comments are taken; commas before a closing bracket are not. Nothing was changed.',
        details: { line, column },
      },
    );
  }
}
