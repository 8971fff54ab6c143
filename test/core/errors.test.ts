import { describe, expect, it } from 'vitest';
import { ERRORS, fromWireError, KaiwuError, toWireError } from '../../src/core/errors.ts';

/** Frozen: callers, scripts and docs rely on these. A change needs a changelog entry. */
const PINNED = {
  not_authenticated: [401, 4, false],
  forbidden: [403, 4, false],
  unknown_action: [404, 5, false],
  action_disabled: [403, 9, false],
  invalid_input: [400, 2, false],
  session_not_selected: [400, 2, false],
  session_not_found: [404, 5, false],
  session_ambiguous: [409, 5, false],
  session_directory_unavailable: [409, 5, false],
  session_archived: [409, 6, false],
  session_busy: [409, 6, true],
  daemon_not_running: [503, 7, true],
  daemon_too_old: [409, 6, false],
  machine_offline: [503, 7, true],
  machine_not_found: [404, 5, false],
  agent_not_available: [409, 10, false],
  agent_failed: [502, 10, false],
  agent_needs_setup: [409, 10, false],
  session_too_deep: [409, 6, false],
  timeout: [504, 8, true],
  canceled: [499, 130, false],
  conflict: [409, 6, false],
  confirmation_required: [409, 6, false],
  approval_not_found: [404, 5, false],
  approval_already_decided: [409, 6, false],
  approval_expired: [409, 6, false],
  approval_stale: [409, 6, false],
  self_approval_forbidden: [403, 9, false],
  permission_escalation_denied: [403, 9, false],
  access_denied: [403, 9, false],
  not_found: [404, 5, false],
  file_not_found: [404, 5, false],
  file_read_error: [409, 6, false],
  is_directory: [400, 2, false],
  not_a_file: [400, 2, false],
  file_too_large: [413, 2, false],
  payload_too_large: [413, 2, false],
  storage_full: [507, 6, false],
  rate_limited: [429, 7, true],
  backend_unreachable: [503, 7, true],
  state_damaged: [500, 1, false],
  mcp_server_not_found: [404, 5, false],
  mcp_server_unavailable: [503, 7, true],
  mcp_sign_in_needed: [409, 4, false],
  tool_failed: [502, 10, false],
  memory_off: [409, 6, false],
  provider_failed: [502, 7, true],
  unsupported: [501, 9, false],
  internal: [500, 1, false],
};

describe('error table', () => {
  it('is as pinned', () => {
    const table = Object.entries(ERRORS).map(([code, { http, exit, retryable }]) => [
      code,
      [http, exit, retryable],
    ]);
    expect(Object.fromEntries(table)).toEqual(PINNED);
  });

  it('keeps exit code 3 for approvals and 0 for success', () => {
    const exits = Object.values(ERRORS).map(({ exit }) => exit);
    expect(exits).not.toContain(0);
    expect(exits).not.toContain(3);
  });
});

describe('wire errors', () => {
  it('cross a boundary whole', () => {
    const error = new KaiwuError('conflict', 'It was taken.', {
      hint: 'Choose another.',
      details: { id: 'x' },
    });
    const back = fromWireError(toWireError(error));
    expect({ ...back, message: back.message }).toEqual({ ...error, message: error.message });
  });

  it('do not carry the text of an unexpected error', () => {
    const wire = toWireError(new TypeError('secret path /root/x'));
    expect(wire.code).toBe('internal');
    expect(JSON.stringify(wire)).not.toContain('secret');
  });

  it('of an unknown code become internal', () => {
    expect(fromWireError({ code: 'brand_new' as 'internal', message: 'm' }).code).toBe('internal');
  });
});
