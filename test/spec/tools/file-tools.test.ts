import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

interface Result {
  readonly toolName: string;
  readonly isError: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly details?: {
    readonly truncation?: Record<string, unknown>;
    readonly fullOutputPath?: string;
    readonly diff?: string;
  };
}

const call = (name: string, args: object) => ({ toolCall: { name, arguments: args } });

const resultsOf = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, toolResults }) => (type === 'turn_end' ? (toolResults as Result[]) : []));

verifies('T16', 'edit is active by default, and search tools once they are activated', async ({ open }) => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'shop.ts'), 'const price = 1;\nconst tax = 2;\n');
  const { peer } = await open({
    home,
    script: [
      {
        steps: [
          call('edit', { path: 'shop.ts', edits: [{ oldText: 'price = 1', newText: 'price = 3' }] }),
          call('grep', { pattern: 'price' }),
        ],
      },
      { steps: [call('grep', { pattern: 'tax' }), call('find', { pattern: '*.ts' }), call('ls', {})] },
      { text: 'done' },
      { repeat: true },
    ],
  });

  expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(['read', 'bash', 'edit', 'write']);
  const early = resultsOf(await peer.run('work'));
  await peer.ok({ type: 'set_active_tools', tools: ['read', 'edit', 'grep', 'find', 'ls'] });
  const [edited, , ...found] = resultsOf(await peer.run('work'));

  expect(readFileSync(join(home.cwd, 'shop.ts'), 'utf8')).toBe('const price = 3;\nconst tax = 2;\n');
  expect(early[0]).toMatchObject({
    toolName: 'edit',
    isError: false,
    details: { diff: expect.stringContaining('price = 3') },
  });
  expect(early[1]).toMatchObject({ toolName: 'grep', isError: true, content: [{ text: 'Tool grep not found' }] });
  expect(edited).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Could not find') }] });
  expect(found.map(({ content }) => content[0]?.text)).toEqual(['shop.ts:2: const tax = 2;', 'shop.ts', 'shop.ts']);
});

verifies(
  'T23',
  'write reports the diff to the replaced text, also in stored messages; a new file has no details',
  async ({ open }) => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'shop.ts'), 'const price = 1;\nconst tax = 2;\n');
    const content = 'const price = 3;\nconst tax = 2;\n';
    const { peer } = await open({
      home,
      script: [
        { steps: [call('write', { path: 'shop.ts', content }), call('write', { path: 'new.ts', content })] },
        { text: 'done' },
      ],
    });

    const [replaced, made] = resultsOf(await peer.run('work'));
    const { messages } = await peer.ok({ type: 'get_messages' });

    const details = {
      diff: '-1 const price = 1;\n+1 const price = 3;\n 2 const tax = 2;',
      patch: expect.stringContaining('@@ -1,2 +1,2 @@\n-const price = 1;\n+const price = 3;\n'),
      firstChangedLine: 1,
    };
    expect(replaced).toMatchObject({ content: [{ text: 'Successfully wrote 32 bytes to shop.ts' }], details });
    expect(made).not.toHaveProperty('details');
    expect(messages).toContainEqual(expect.objectContaining({ role: 'toolResult', details }));
  },
);

verifies('T8 T19', 'long output is truncated to its end, and a file holds the whole', async ({ open }) => {
  const { peer } = await open({ script: [call('bash', { command: 'seq 1 5000' }), { text: 'done' }] });

  const [result] = resultsOf(await peer.run('work'));

  const path = result?.details?.fullOutputPath ?? '';
  onTestFinished(() => rmSync(path, { force: true }));
  expect(result?.content[0]?.text).toMatch(/^3001\n3002\n/);
  expect(result?.content[0]?.text).toContain(`[Showing lines 3001-5000 of 5000. Full output: ${path}]`);
  expect(result?.details?.truncation).toMatchObject({
    truncated: true,
    truncatedBy: 'lines',
    totalLines: 5000,
    outputLines: 2000,
  });
  expect(existsSync(path) && readFileSync(path, 'utf8').split('\n')).toHaveLength(5001);
});

verifies('T19', 'updates of a command that prints continuously are throttled', async ({ open }) => {
  const command = 'date +%s%N; for i in $(seq 1 40); do echo $i; sleep 0.005; done; date +%s%N';
  const { peer } = await open({ script: [call('bash', { command }), { text: 'done' }] });

  const records = await peer.run('work');

  const shown = records.filter(({ type }) => type === 'tool_execution_update').map((record) => JSON.stringify(record));
  const [start = 0, end = 0] = (shown.at(-1)?.match(/\d{16,}/g) ?? []).map(Number);
  expect(shown.at(-1)).toContain('39\\n40\\n');
  expect(end).toBeGreaterThan(start);
  // The first one is empty; the output before the first delay and after the last one is sent too.
  expect(shown.length).toBeLessThanOrEqual(Math.ceil((end - start) / 100_000_000) + 3);
});
