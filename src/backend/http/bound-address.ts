import { KaiwuError } from '../../core/errors.ts';

export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

export function hostOf(publicUrl: string): string {
  if (URL.canParse(publicUrl)) return new URL(publicUrl).hostname;
  throw new KaiwuError('invalid_input', `The public address ${JSON.stringify(publicUrl)} is not a URL.`, {
    hint: 'Write it whole, as in https://kaiwu.example.com',
  });
}

export const plainRemote = (host: string) =>
  new KaiwuError(
    'unsupported',
    `${host} is reached from other machines, and this server speaks plain HTTP.`,
    {
      hint: 'Bind 127.0.0.1 and put a proxy with TLS in front; or allow it by name if that proxy is on another machine.',
    },
  );
