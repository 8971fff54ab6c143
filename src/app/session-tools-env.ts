/** Where the bridge of a session's tools finds the daemon, and by what it is known there. */
export const BRIDGE_URL = 'KAIWU_TOOLS_URL';
export const BRIDGE_BEARER = 'KAIWU_TOOLS_BEARER';
