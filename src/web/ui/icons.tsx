import type { JSX } from 'solid-js';

/** Outlines on a 16 by 16 grid. */
const PATHS = {
  inbox: 'M2 9.500h3.200l1 2h3.600l1-2H14M3.600 3h8.800L14 9.500V13H2V9.500z',
  sessions: 'M2.500 3h11v8h-6l-3 2.500V11h-2zM5 6h6M5 8.300h4',
  files: 'M4 2.500h5l3 3v8H4zM9 2.500v3h3M6 8.500h4M6 11h4',
  actions: 'M3 4.500h5M12 4.500h1M3 11.500h1M8 11.500h5M10 2.800v3.400M6 9.800v3.400',
  machines: 'M2.500 3h11v7h-11zM6 13h4M8 10v3',
  audit: 'M3.500 2.500h9v11h-9zM6 5.500h4M6 8h4M6 10.500h2.500',
  devices: 'M6.200 9.800a3.300 3.300 0 1 1 1.900-3h6v2h-1.600v1.800h-2V8.800H8.100M5 6.800h.01',
  plug: 'M6 2v3.500M10 2v3.500M4 5.500h8v2a4 4 0 0 1-8 0zM8 11.500V14',
  runs: 'M4 3v6.500a2 2 0 0 0 2 2h4M4 6h6M10 4.200v3.600l2.600-1.800zM10 9.700v3.600l2.600-1.800z',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  search: 'M7 11.500a4.500 4.500 0 1 1 0-9 4.500 4.500 0 0 1 0 9zM10.300 10.300 13.500 13.500',
  plus: 'M8 3v10M3 8h10',
  branch: 'M4.500 3v10M4.500 10c5 0 7-1.500 7-5M11.500 5V3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName }): JSX.Element {
  return (
    <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={PATHS[props.name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.400"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
