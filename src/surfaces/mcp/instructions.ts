/** What a host is told of this server as a whole. */
export const INSTRUCTIONS =
  'Kaiwu starts and steers coding agents in sessions on the machines of this account. The tools listed here are the most used ' +
  'actions; the catalog has more: search it, read the spec of what you find, then execute it by its id. A call that ' +
  'answers approval_request_created waits for a person: it has not run yet.';
