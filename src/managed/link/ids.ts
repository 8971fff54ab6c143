/** Ids of our own requests; the SDK's are numbers and `server-discover-probe-1` and the like. */
export const toOwnId = (n: number): string => `call-${n}`;

/** One of them in a message of which only a part is left. */
export const OWN_ID = /"id"\s*:\s*"(call-\d+)"/;

export const isOwnId = (id: unknown): id is string => typeof id === 'string' && /^call-\d+$/.test(id);

/** Code of an answer that a transport makes up for one that was too large to be read; outside what JSON-RPC reserves. */
export const TOO_LARGE = -31_900;
