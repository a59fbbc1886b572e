import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, writeUserFile } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { startServer } from '../../support/server/test-server.ts';

const HELLO = [{ text: 'the words of a model', when: '.', keep: true }];

/** The lines of a JSON log with this message. */
const logged = (path: string, message: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => line.message === message);

/** A home with an extension of this source and a log file. */
function homeWithExtension(source: string) {
  const home = newHome();
  const extension = join(home.root, 'extension.mjs');
  writeFileSync(extension, `export default () => { ${source} };`);
  return { home, agentArgs: ['--extension', extension], logFile: join(home.root, 'server.jsonl') };
}

it('[W123 U29] the server logs warnings, output and runs of its agents with session and process', async () => {
  const { home, agentArgs, logFile } = homeWithExtension(`console.log('printed by an extension')`);
  writeUserFile(home, 'models.json', '{"providers": 7}');
  const args = ['--log-level', 'debug', '--log-file', logFile];
  const server = await startServer({ home, script: HELLO, agentArgs, args });
  const peer = await server.attach();
  const { sessionId } = await peer.ok({ type: 'get_state' });
  const [agent] = server.agents();

  await peer.run('the words of a user');
  await waitUntil(async () => logged(logFile, 'run settled').length > 0);

  const fields = { sessionId, pid: agent?.pid };
  expect(logged(logFile, 'agent warned')).toMatchObject([
    { ...fields, level: 'warn', warning: 'models.json: providers must be an object' },
  ]);
  expect(logged(logFile, 'agent printed')).toMatchObject([
    { ...fields, level: 'debug', line: 'printed by an extension' },
  ]);
  expect(logged(logFile, 'run settled')).toMatchObject([{ ...fields, level: 'info', outcome: 'ok' }]);
  expect(readFileSync(logFile, 'utf8')).not.toContain('the words of');
});

it('[W123 U29] by default the server logs warnings of its agents to stderr, and no other output', async () => {
  const { home, agentArgs } = homeWithExtension(`console.log('printed by an extension')`);
  writeUserFile(home, 'models.json', '{"providers": 7}');
  const server = await startServer({ home, script: HELLO, agentArgs });

  await (await server.attach()).run('Hi');
  await waitUntil(async () => server.stderr().includes('agent warned'));

  expect(server.stderr()).toContain('warning="models.json: providers must be an object"');
  expect(server.stderr()).not.toContain('printed by an extension');
});

it('[W124] an agent that prints without end fills no log', async () => {
  const source = `console.log('x'.repeat(10_000)); for (let i = 1; i < 10_000; i++) console.log('line ' + i)`;
  const { home, agentArgs, logFile } = homeWithExtension(source);
  const args = ['--log-level', 'debug', '--log-file', logFile];
  const server = await startServer({ home, script: HELLO, agentArgs, args });
  await (await server.attach()).run('Hi');

  server.kill('SIGTERM');
  await server.exited;

  const lines = logged(logFile, 'agent printed').map(({ line }) => line);
  expect(lines).toHaveLength(50);
  expect(lines[0]).toMatch(/^x{100,1000}…$/);
  expect(logged(logFile, 'agent printed too much')).toMatchObject([{ level: 'warn', omittedLines: 9950 }]);
});

it('[W125] every client that attaches gets the warnings of the agent once, and none when it resumes', async () => {
  const home = newHome();
  writeUserFile(home, 'models.json', '{"providers": 7}');
  writeUserFile(home, 'mcp.json', '{"mcpServers": {"odd": {}}}');
  const server = await startServer({ home, script: HELLO });
  const first = await server.attach();
  await first.run('Hi');
  const second = await server.attach({ session: first.cursor.session });
  const resumed = server.connect(first.cursor);
  for (const peer of [second, resumed]) await peer.ok({ type: 'get_state' });

  const warningsOf = (peer: typeof first) => peer.records.filter(({ type }) => type === 'warning');
  const warnings = [
    { source: 'models', message: 'models.json: providers must be an object' },
    { source: 'mcp', message: expect.stringContaining('mcpServers.odd needs a command or a url') },
  ];
  expect(warningsOf(first)).toMatchObject(warnings);
  expect(warningsOf(second)).toMatchObject(warnings);
  expect(warningsOf(resumed)).toEqual([]);
});

it('[W123] the server logs the failures of extensions and MCP servers, without the text of the extension', async () => {
  const { home, agentArgs, logFile } = homeWithExtension('');
  writeFileSync(
    agentArgs[1] ?? '',
    `export default (pi) => pi.on('agent_start', () => { throw new Error('text of an extension'); });`,
  );
  writeUserFile(home, 'mcp.json', '{"mcpServers": {"gone": {"command": "false"}}}');
  const server = await startServer({ home, script: HELLO, agentArgs, args: ['--log-file', logFile] });

  await (await server.attach()).run('Hi');
  await waitUntil(async () => logged(logFile, 'agent reported').length >= 2);

  const failures = logged(logFile, 'agent reported').map(({ level, failure }) => `${level} ${failure}`);
  expect(failures).toContain(`warn the extension ${agentArgs[1]} failed in agent_start`);
  expect(failures).toContainEqual(expect.stringContaining('warn the MCP server gone failed: '));
  expect(readFileSync(logFile, 'utf8')).not.toContain('text of an extension');
});
