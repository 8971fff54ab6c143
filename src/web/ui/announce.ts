import { createSignal } from 'solid-js';

const [announced, setAnnounced] = createSignal('', { equals: false });

export { announced };

/** Says something to those who do not see the page change. */
export const announce = (text: string): string => setAnnounced(text);
