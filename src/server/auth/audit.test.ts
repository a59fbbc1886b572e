import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { auditPath, openAudit } from './audit.ts';
import { owner } from './grant.ts';

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('each audit event becomes one line in a file that only the user can read', () => {
  const agentDir = tempFolder();
  mkdirSync(dirname(auditPath(agentDir)), { mode: 0o755 });
  const audit = openAudit(agentDir);
  const grant = { ...owner, id: 'a1b2c3d4', name: 'line\nbreak \u001b[2J' };

  audit.record({ action: 'refused', address: '10.0.0.1', outcome: 'permission_denied' });
  audit.record({ action: 'bash', grant, address: '10.0.0.1', sessionId: 's1', outcome: 'ok' });
  audit.record({ action: 'close', grant, sessionId: 's1', outcome: 'ok', closeCode: 1000 });

  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const line = { time, level: 'info', area: 'audit' };
  expect(linesOf(auditPath(agentDir))).toEqual([
    { ...line, message: 'refused', address: '10.0.0.1', outcome: 'permission_denied' },
    {
      ...line,
      message: 'bash',
      grant: grant.id,
      name: grant.name,
      address: '10.0.0.1',
      sessionId: 's1',
      outcome: 'ok',
    },
    { ...line, message: 'close', grant: grant.id, name: grant.name, sessionId: 's1', outcome: 'ok', closeCode: 1000 },
  ]);
  const modes = [auditPath(agentDir), dirname(auditPath(agentDir))].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
});

it('the audit log continues after a restart and is rotated at its size limit', () => {
  const agentDir = tempFolder();
  const path = auditPath(agentDir);
  openAudit(agentDir).record({ action: 'connect', outcome: 'ok', sessionId: 'first' });
  const audit = openAudit(agentDir, { maxBytes: 2000 });

  audit.record({ action: 'connect', outcome: 'ok', sessionId: 'second' });
  const both = linesOf(path).map(({ sessionId }) => sessionId);
  for (let count = 0; count < 100; count++) audit.record({ action: 'prompt', outcome: 'ok', sessionId: `${count}` });

  expect(both).toEqual(['first', 'second']);
  expect(linesOf(path).at(-1)).toMatchObject({ sessionId: '99' });
  for (const file of [path, `${path}.1`]) expect(statSync(file).size).toBeLessThanOrEqual(2000);
});
