import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentClient, CustomTool } from '../../../src/client/index.ts';
import { spawnAgent } from '../../../src/client/spawn.node.ts';
import { openAgent } from '../../../src/index.ts';
import { environment, newHome, scriptArgs, TAU } from '../../support/agent/test-agent.ts';
import { toolCallStep } from '../../support/tools/host-tools.ts';

const root = join(import.meta.dirname, '../../..');

const tool = (name: string, execute: CustomTool['execute'], more: object = {}): CustomTool => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object' },
  execute,
  ...more,
});

/** Open a client of an agent in a child process, or of one in this process. */
const clientOpeners: [string, (script: readonly object[]) => Promise<AgentClient>][] = [
  [
    'a child process',
    async (script) => {
      const home = newHome();
      const agent = spawnAgent({ command: TAU, args: scriptArgs(home, script), cwd: home.cwd, env: environment(home) });
      onTestFinished(() => agent.close().then(() => {}));
      return agent.client;
    },
  ],
  [
    'this process',
    async (script) => {
      const home = newHome();
      const [, path = ''] = scriptArgs(home, script);
      const agent = await openAgent({ cwd: home.cwd, agentDir: home.agentDir, env: environment(home), script: path });
      onTestFinished(() => agent.close());
      return agent.client;
    },
  ],
];

it.each(clientOpeners)('[V7] a client runs its custom tools for an agent in %s', async (_where, open) => {
  const client = await open([
    { steps: [toolCallStep('greet', { name: 'Ann' }), toolCallStep('fail'), toolCallStep('greet', { name: 5 })] },
    toolCallStep('secret'),
    { text: 'done' },
  ]);
  const parameters = { type: 'object', properties: { name: { type: 'string' } } };

  const { toolNames } = await client.setCustomTools([
    tool('greet', ({ name }) => `Hello, ${name}`, { parameters, label: 'Greets' }),
    tool('fail', () => {
      throw new Error('no luck');
    }),
    tool('secret', () => ({ content: [], details: { found: true } }), { hidden: true }),
  ]);
  await client.setActiveTools({ tools: toolNames });
  const { messages } = await client.promptAndWait('go');

  const results = messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []));
  const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
  expect(results).toMatchObject([
    { isError: false, ...text('Hello, Ann') },
    { isError: true, ...text('no luck') },
    { isError: true, ...text(expect.stringContaining('must be a string')) },
    { isError: false, content: [], details: { found: true } },
  ]);
});

it.each(clientOpeners)(
  '[V7] an abort reaches the custom tools of a client for an agent in %s',
  async (_where, open) => {
    const client = await open([{ steps: [toolCallStep('wait'), toolCallStep('wait')] }, { text: 'after' }]);
    let onStart = () => {};
    const started = new Promise<void>((resolve) => {
      onStart = resolve;
    });
    const aborted: Promise<unknown>[] = [];
    await client.setCustomTools([
      tool('wait', (_args, { signal }) => {
        aborted.push(new Promise((resolve) => signal.addEventListener('abort', resolve)));
        if (aborted.length === 2) onStart();
        return new Promise(() => {});
      }),
    ]);
    const run = client.promptAndWait('go');
    await started;

    await client.abort();
    await Promise.all(aborted);

    expect((await run).settled).toMatchObject({ aborted: true });
    expect((await client.promptAndWait('again')).settled).toMatchObject({ outcome: 'ok' });
  },
);

/** The code example in this language from the tools section of docs/embedding.md. */
function example(language: string): string {
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
  const section = page.slice(page.indexOf('## Tools that your program runs'));
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? '';
}

const run = async (program: string, args: readonly string[]) =>
  (await promisify(execFile)(program, args, { cwd: root, env: environment(newHome()) })).stdout;

it('[V6 H6 H9] the Python example runs its tool', async () => {
  const path = scriptArgs(newHome(), [toolCallStep('ticket', { number: 7 }), { text: 'A lamp.' }])[1];
  const code = example('python').replace('"--no-session"', `"--no-session", "--script", "${path}"`);

  expect(await run('python3', ['-c', code])).toBe('Ticket 7: the lamp is broken\n\n');
});

it('[V7] the TypeScript example runs its tool', async () => {
  const path = scriptArgs(newHome(), [
    toolCallStep('ticket', { number: 7 }),
    toolCallStep('ticket', { number: 8 }),
    { text: 'done' },
  ])[1];
  const tickets = createServer((request, response) => {
    response.statusCode = request.url === '/7' ? 200 : 404;
    response.end('The lamp is broken');
  });
  await new Promise<void>((resolve) => tickets.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void tickets.close());
  const code = example('ts')
    .replace("'tau-agent/client/node'", "'./dist/client-node.js'")
    .replace("'--no-session'", `'--no-session', '--script', '${path}'`)
    .replace('https://tickets.example.com', `http://127.0.0.1:${(tickets.address() as AddressInfo).port}`)
    .replace('messages.at(-1)', 'messages');

  const messages = await run(process.execPath, ['--input-type=module', '-e', code]);

  expect(messages).toContain('The lamp is broken');
  expect(messages).toContain('There is no ticket 8');
});
