import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { RunJournal } from '../../store/run-journal.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { SessionTarget } from '../sessions.ts';
import { LocalSessions } from './local-sessions.ts';
import { LocalOwnership } from './storage/ownership.ts';
import { LocalStorage } from './storage/session-storage.ts';
import { storedTargetOf } from './testing/recording-subscriber.ts';
import { sessionsContract } from './testing/sessions-contract.ts';

const TAU = join(import.meta.dirname, '../../../dist/tau.cjs');

sessionsContract('the sessions of one machine', () => {
  const root = mkdtempSync(join(tmpdir(), 'tau-sessions-'));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  const script = join(root, 'script.jsonl');
  const modelTurns = [
    { text: 'hello', when: '^hello', keep: true },
    { steps: [{ text: 'Well, ' }, { stall: true }], when: '^wait', keep: true },
  ];
  writeFileSync(script, modelTurns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const { PATH = '' } = process.env;
  const sessions = new LocalSessions({
    agent: {
      command: process.execPath,
      args: [TAU, '--script', script],
      env: { PATH, HOME: root, PI_CODING_AGENT_DIR: join(root, 'agent') },
    },
    storage: new LocalStorage(new LocalOwnership(), new RunJournal(join(root, 'runs'))),
    parkAfterMs: 60_000,
    maxHosts: 10,
    onActivity: () => {},
    onCrash: () => {},
    onStartFailure: () => {},
    onError: () => {},
  });
  onTestFinished(() => sessions.close());
  return {
    sessions,
    newTarget: (): SessionTarget => ({ kind: 'new', id: newUuid(), cwd }),
    storedTarget: storedTargetOf,
    kill: (sessionId) => void process.kill(sessions.find(sessionId)?.pid ?? Number.NaN, 'SIGKILL'),
  };
});
