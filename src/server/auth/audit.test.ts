import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { accessAuditPath, auditPath, FailureAudit, MAX_AUDITED_FAILURES, openAudit } from './audit.ts';
import { owner } from './grant.ts';

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('[A22] each audit event becomes one line, in files for deeds and accesses that only the user can read', () => {
  const agentDir = tempFolder();
  mkdirSync(dirname(auditPath(agentDir)), { mode: 0o755 });
  const audit = openAudit(agentDir);
  const grant = { ...owner, id: 'a1b2c3d4', name: 'line\nbreak \u001b[2J' };

  audit.record({ action: 'refused', address: '10.0.0.1', outcome: 'permission_denied' });
  audit.record({ action: 'bash', grant, address: '10.0.0.1', sessionId: 's1', outcome: 'ok' });
  audit.record({ action: 'bash', grant, sessionId: 's1', outcome: 'overloaded' });
  audit.record({ action: 'close', grant, sessionId: 's1', outcome: 'ok', closeCode: 1000 });

  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const line = { time, level: 'info', area: 'audit' };
  expect(linesOf(auditPath(agentDir))).toEqual([
    {
      ...line,
      message: 'bash',
      grant: grant.id,
      name: grant.name,
      address: '10.0.0.1',
      sessionId: 's1',
      outcome: 'ok',
    },
  ]);
  const holder = { grant: grant.id, name: grant.name, sessionId: 's1' };
  expect(linesOf(accessAuditPath(agentDir))).toEqual([
    { ...line, message: 'refused', address: '10.0.0.1', outcome: 'permission_denied' },
    { ...line, message: 'bash', ...holder, outcome: 'overloaded' },
    { ...line, message: 'close', ...holder, outcome: 'ok', closeCode: 1000 },
  ]);
  const paths = [auditPath(agentDir), accessAuditPath(agentDir), dirname(auditPath(agentDir))];
  expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o700]);
});

it('the audit log continues after a restart and is rotated at its size limit', () => {
  const agentDir = tempFolder();
  const path = auditPath(agentDir);
  openAudit(agentDir).record({ action: 'bash', outcome: 'ok', sessionId: 'first' });
  const audit = openAudit(agentDir, { maxBytes: 2000 });

  audit.record({ action: 'bash', outcome: 'ok', sessionId: 'second' });
  const both = linesOf(path).map(({ sessionId }) => sessionId);
  for (let count = 0; count < 100; count++) audit.record({ action: 'prompt', outcome: 'ok', sessionId: `${count}` });

  expect(both).toEqual(['first', 'second']);
  expect(linesOf(path).at(-1)).toMatchObject({ sessionId: '99' });
  for (const file of [path, `${path}.1`]) expect(statSync(file).size).toBeLessThanOrEqual(2000);
});

it('[A22] further failures of a connection are one line with their number', () => {
  const agentDir = tempFolder();
  const failures = new FailureAudit(openAudit(agentDir));
  for (let count = 0; count < MAX_AUDITED_FAILURES + 7; count++)
    failures.record({ action: 'bash', outcome: 'permission_denied' });

  failures.close();
  failures.close();

  const lines = linesOf(accessAuditPath(agentDir));
  expect(lines).toHaveLength(MAX_AUDITED_FAILURES + 1);
  expect(lines.at(-1)).toMatchObject({ message: 'refused', outcome: 'permission_denied', count: 7 });
});
