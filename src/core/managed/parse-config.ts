import { toIssueText } from '../issue-text.ts';
import { SECRET_FIELDS, serverConfigSchema } from './config.ts';
import { type ParsedServers, readServers, received, type SettingsShape, show } from './read-servers.ts';

const SHAPE: SettingsShape = {
  fields: Object.keys(serverConfigSchema.shape),
  judge(fields) {
    const parsed = serverConfigSchema.safeParse(fields);
    if (parsed.success) return parsed.data;
    return parsed.error.issues.slice(0, 5).map((issue) => {
      const secret = SECRET_FIELDS.some((field) => field === issue.path[0]);
      const at = issue.path.reduce<unknown>(
        (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
        fields,
      );
      return `${show(issue.path.map(String).join('.'))} ${toIssueText(issue)}${secret ? '' : received(at)}`;
    });
  },
};

/** `readServers` with settings judged whole, as they are where they are run. */
export const parseServers = (text: string, taken: Iterable<string> = []): ParsedServers =>
  readServers(text, taken, SHAPE);
