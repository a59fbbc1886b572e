import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { startProgram } from '../../support/processes/program.ts';

const folder = join(import.meta.dirname, '../../fixtures/transcripts');
const transcripts = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

type Line = { readonly send: object } | { readonly expect: Record<string, unknown> };

const linesOf = (name: string): Line[] =>
  readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Whether a record has the expected fields with these values; more fields and `"*"` are fine. */
function fits(value: unknown, expected: unknown): boolean {
  if (expected === '*') return value !== undefined;
  if (typeof expected !== 'object' || expected === null) return value === expected;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(expected) && (!Array.isArray(value) || value.length !== expected.length)) return false;
  return Object.entries(expected).every(([key, part]) =>
    fits(Object.entries(value).find(([name]) => name === key)?.[1], part),
  );
}

it.each(transcripts)('[I23] the transcript %s passes without hello', async (name) => {
  const agent = startProgram(newHome(), [process.execPath, TAU, '--mode', 'rpc']);
  const records: unknown[] = [];
  let wake = () => {};
  let rest = '';
  agent.child.stdout?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    records.push(...lines.map((line) => JSON.parse(line)));
    wake();
  });
  let read = 0;
  const expectNext = async (expected: object) => {
    while (true) {
      for (; read < records.length; read++) if (fits(records[read], expected)) return ++read;
      const ended = await Promise.race([new Promise<void>((resolve) => (wake = resolve)), agent.finished]);
      if (ended) throw new Error(`No ${JSON.stringify(expected)} in ${JSON.stringify(records)}`);
    }
  };

  for (const line of linesOf(name)) {
    if ('send' in line) agent.send(line.send);
    else await expectNext(line.expect);
  }
  agent.child.stdin?.end();

  expect(await agent.finished).toMatchObject({ code: 0, stderr: '' });
});

it('[I23] hello reports the protocol number and every capability that a client may request', async () => {
  const agent = startProgram(newHome(), [process.execPath, TAU, '--mode', 'rpc'], {
    input: '{"id":1,"type":"hello","client":{"name":"c","version":"9"},"stream":"delta","fromTheFuture":true}\n',
  });

  const { stdout } = await agent.finished;

  const response = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ id }) => id === 1);
  expect(response).toMatchObject({
    success: true,
    data: {
      protocol: 1,
      server: { name: 'tau' },
      capabilities: { stream: 'delta', legacyNames: true, builtins: false, entries: false, heartbeatMs: 0 },
    },
  });
});
