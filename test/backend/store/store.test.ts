import { describe } from 'vitest';
import { DATABASES } from './databases.ts';
import { appendSuite } from './suites/append.ts';
import { approvalsSuite } from './suites/approvals.ts';
import { auditSuite } from './suites/audit.ts';
import { feedSuite } from './suites/feed.ts';
import { fleetSuite } from './suites/fleet.ts';
import { foldingSuite } from './suites/folding.ts';
import { governanceSuite } from './suites/governance.ts';
import { grantsSuite } from './suites/grants.ts';
import { identitySuite } from './suites/identity.ts';
import { managedSuite } from './suites/managed.ts';
import { messagesSuite } from './suites/messages.ts';
import { processesSuite } from './suites/processes.ts';
import { readBackSuite } from './suites/read-back.ts';
import { runsSuite } from './suites/runs.ts';
import { sessionsSuite } from './suites/sessions.ts';
import { tortureSuite } from './suites/torture.ts';
import { transcriptsSuite } from './suites/transcripts.ts';
import { treeSuite } from './suites/tree.ts';

for (const database of DATABASES) {
  describe(`on ${database.name}`, () => {
    describe('sessions', () => {
      sessionsSuite(database);
    });
    describe('tree', () => {
      treeSuite(database);
    });
    describe('messages', () => {
      messagesSuite(database);
    });
    describe('append', () => {
      appendSuite(database);
    });
    describe('transcripts', () => {
      transcriptsSuite(database);
    });
    describe('approvals', () => {
      approvalsSuite(database);
    });
    describe('folding', () => {
      foldingSuite(database);
    });
    describe('read back', () => {
      readBackSuite(database);
    });
    describe('grants', () => {
      grantsSuite(database);
    });
    describe('policy, idempotency', () => {
      governanceSuite(database);
    });
    describe('runs', () => {
      runsSuite(database);
    });
    describe('audit', () => {
      auditSuite(database);
    });
    describe('managed servers', () => {
      managedSuite(database);
    });
    describe('machines', () => {
      fleetSuite(database);
    });
    describe('identity', () => {
      identitySuite(database);
    });
    describe('feed', () => {
      feedSuite(database);
    });
    describe('processes', () => {
      processesSuite(database);
    });
    describe('torture', () => {
      tortureSuite(database);
    });
  });
}
