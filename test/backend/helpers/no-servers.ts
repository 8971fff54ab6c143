import { KaiwuError } from '../../../src/core/errors.ts';

const refuse = () => Promise.reject(new KaiwuError('mcp_server_not_found', 'no such server here'));

/** The requests about managed servers, for a daemon that runs none. */
export const NO_SERVERS = { 'mcp.apply': async () => ({}), 'mcp.call': refuse, 'mcp.test': refuse };
