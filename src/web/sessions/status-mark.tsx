import type { JSX } from 'solid-js';
import type { SessionStatus } from '../../core/session.ts';
import { t } from '../i18n/index.ts';

/** How a session stands, as a dot and a word. */
export function StatusMark(props: {
  session: { status: SessionStatus; stalledSince?: string; machineOfflineSince?: string };
}): JSX.Element {
  const name = () => {
    const { status, stalledSince, machineOfflineSince } = props.session;
    if (machineOfflineSince !== undefined && status !== 'stopped' && status !== 'failed') return 'offline';
    return stalledSince === undefined ? status : 'stalled';
  };
  return <span class={`status ${name()}`}>{t(`status_${name()}`)}</span>;
}
