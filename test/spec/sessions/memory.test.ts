import { appendFileSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newHome, openTestAgent, sessionFiles, type TestAgent } from '../../support/agent/test-agent.ts';
import { storeLongConversation } from '../../support/sessions/long-conversation.ts';
import { entry } from '../../support/sessions/stored-session.ts';

const ENTRIES = 40_000;

// As a multiple of the memory of an agent after one turn in a new session.
const MAX_GROWTH = 3;

// A small young generation: since Node 24, V8 leaves much garbage there before it collects it.
const env = { NODE_OPTIONS: '--max-semi-space-size=1' };

const megabytes = ({ process }: TestAgent): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process?.pid}/status`, 'utf8'))?.[1]) / 1024;

it('[J29] the memory of an agent stays bounded after a long session was opened and after many turns', async () => {
  const script = [{ text: 'a'.repeat(500), when: '.', keep: true }];
  const fresh = await openTestAgent('stdio', { env, script });
  await fresh.peer.run('go');
  const usual = megabytes(fresh);
  const home = newHome();
  const id = storeLongConversation(home, ENTRIES);
  const [path = ''] = sessionFiles(home);
  const idOf = (n: number) => n.toString(16).padStart(8, '0');
  const compaction = { summary: 'Much was done.', firstKeptEntryId: idOf(ENTRIES - 4), tokensBefore: 5_000_000 };
  appendFileSync(path, `${JSON.stringify(entry('compaction', 'ffffffff', idOf(ENTRIES - 1), compaction))}\n`);

  const agent = await openTestAgent('stdio', { env, home, script, args: ['--session', id] });
  const { totalMessages } = await agent.peer.ok({ type: 'get_session_stats' });
  expect(totalMessages).toBe(ENTRIES);
  expect(megabytes(agent)).toBeLessThan(MAX_GROWTH * usual);
  for (let turn = 0; turn < 100; turn++) await agent.peer.run(`turn ${turn}`);

  expect(megabytes(agent)).toBeLessThan(MAX_GROWTH * usual);
});
