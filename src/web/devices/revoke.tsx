import type { JSX } from 'solid-js';
import { t } from '../i18n/index.ts';
import { AskTwice } from '../ui/ask-twice.tsx';
import { line } from '../ui/text.tsx';
import { ago } from '../ui/time.ts';

export const lastUse = (at: string | undefined): string =>
  at === undefined ? t('neverUsed') : t('lastUsed', { when: ago(at) });

export const Revoke = (props: { name: string; onRevoke: () => Promise<boolean> }): JSX.Element => (
  <AskTwice
    ask={t('revoke')}
    of={line(props.name)}
    sure={t('revokeNow')}
    onSure={() => void props.onRevoke()}
  />
);
