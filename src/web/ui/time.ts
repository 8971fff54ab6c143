import { createSignal } from 'solid-js';
import { now } from '../browser/host.ts';
import { lang } from '../i18n/index.ts';

const [tick, setTick] = createSignal(now());
setInterval(() => setTick(now()), 20_000);

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `3 minutes ago`, `in 23 hours`; kept up to date. */
export function ago(at: string): string {
  const seconds = (Date.parse(at) - tick()) / 1000;
  const format = new Intl.RelativeTimeFormat(lang(), { numeric: 'auto', style: 'short' });
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(0, 'second');
}

/** Date and time in full, for tooltips and for what happened long ago. */
export const fullTime = (at: string): string =>
  new Intl.DateTimeFormat(lang(), { dateStyle: 'medium', timeStyle: 'medium' }).format(Date.parse(at));

export const clockTime = (at: string): string =>
  new Intl.DateTimeFormat(lang(), { timeStyle: 'short' }).format(Date.parse(at));

export const isPast = (at: string): boolean => Date.parse(at) <= tick();
