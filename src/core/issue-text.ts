import type * as z from 'zod';

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const UNITS: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/** What the schema's library says of a value, in words for whoever sent it: after the field's name it reads as a sentence. */
export function toIssueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // A schema may have words of its own.
      if (!issue.message.startsWith('Invalid ')) return issue.message;
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' && Number(issue.minimum) === 1
        ? 'must not be empty'
        : toBound(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return toBound(issue.origin, 'at most', issue.maximum);
    case 'invalid_key':
      return issue.issues.map(toIssueText).join('; ');
    case 'invalid_format':
      return issue.message.startsWith('Invalid ') ? `is not of the form of ${issue.format}` : issue.message;
    case 'unrecognized_keys':
      return `has no ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return 'has none of the forms that fit';
    default:
      return issue.message;
  }
}

function toBound(origin: string, bound: 'at least' | 'at most', limit: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${bound} ${limit}`;
  return `must have ${bound} ${limit} ${unit[Number(limit) === 1 ? 0 : 1]}`;
}
