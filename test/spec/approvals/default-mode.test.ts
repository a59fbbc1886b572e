import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { newHome, readSessionFile, scriptArgs, TAU, writeUserFile } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { startProgram } from '../../support/processes/program.ts';
import { toolCallStep } from '../../support/tools/host-tools.ts';
import { verifies } from '../../support/verifies.ts';

const calls = [
  toolCallStep('bash', { command: 'cat a.txt; rm a.txt' }, 'b'),
  toolCallStep('write', { path: 'made/new.txt', content: 'one\n' }, 'w'),
  toolCallStep('edit', { path: 'made/new.txt', edits: [{ oldText: 'one', newText: 'two' }] }, 'e'),
];
const script = [...calls, { text: 'done' }];

/** The fields of a record that do not change from run to run. */
function stable(record: WireRecord): object {
  const { seq: _seq, runId: _runId, durationMs: _durationMs, ...fields } = record;
  return fields;
}

verifies(
  'A120',
  'without flags and settings bash, write and edit run with the events that they always had',
  async ({ open }) => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'a.txt'), 'here\n');
    const { peer } = await open({ home, script });
    await peer.ok({ type: 'hello', stream: 'delta' });

    const records = await peer.run('go');

    const turn = ['turn_start', 'message_start', 'message_end'];
    const call = ['tool_execution_start', 'tool_execution_end', 'message_start', 'message_end', 'turn_end'];
    const answered = [...turn, ...call];
    expect(
      records
        .map(({ type }) => type)
        .filter((type) => !['response', 'message_update', 'tool_execution_update', 'state_changed'].includes(type)),
    ).toEqual([
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      ...answered.slice(1),
      ...answered,
      ...answered,
      ...turn,
      'turn_end',
      'agent_end',
      'agent_settled',
    ]);
    const file = join('made', 'new.txt');
    expect(records.filter(({ type }) => /^tool_execution_(start|end)$/.test(type)).map(stable)).toEqual([
      { type: 'tool_execution_start', toolCallId: 'b', toolName: 'bash', args: { command: 'cat a.txt; rm a.txt' } },
      {
        type: 'tool_execution_end',
        toolCallId: 'b',
        toolName: 'bash',
        result: { content: [{ type: 'text', text: 'here\n' }] },
        isError: false,
      },
      { type: 'tool_execution_start', toolCallId: 'w', toolName: 'write', args: { path: file, content: 'one\n' } },
      {
        type: 'tool_execution_end',
        toolCallId: 'w',
        toolName: 'write',
        result: { content: [{ type: 'text', text: expect.stringContaining(file) }] },
        isError: false,
      },
      {
        type: 'tool_execution_start',
        toolCallId: 'e',
        toolName: 'edit',
        args: { path: file, edits: [{ oldText: 'one', newText: 'two' }] },
      },
      {
        type: 'tool_execution_end',
        toolCallId: 'e',
        toolName: 'edit',
        result: { content: [{ type: 'text', text: expect.stringContaining(file) }], details: expect.any(Object) },
        isError: false,
      },
    ]);
    const state = await peer.ok({ type: 'get_state' });
    expect(state).toMatchObject({ approvalMode: 'full', sandbox: { status: 'off' }, pendingUi: [] });
    expect(readSessionFile(state.sessionFile).filter(({ type }) => type === 'custom')).toEqual([]);
  },
);

/** Text of the code that decides about calls, reads the settings about it, and confines commands. */
const MARKS = ['The user did not allow this call', 'counts in your own settings only', '--die-with-parent'];

it.each([
  ['rpc mode', ['--mode', 'rpc']],
  ['json mode', ['--mode', 'json', 'go']],
  ['tau -p', ['-p', 'go']],
])('[A120] without flags and settings %s loads no code for approvals and the sandbox', async (_name, args) => {
  const { env, loadedText } = coverage();

  expect(await toolsRunBy([process.execPath, TAU, ...args], env)).toBe(true);

  for (const mark of MARKS) expect(loadedText()).not.toContain(mark);
});

it('[A120] without flags and settings the SDK loads no code for approvals and the sandbox', async () => {
  const { env, loadedText } = coverage();
  const module = `import { openAgent } from ${JSON.stringify(join(dirname(TAU), 'index.js'))};
    const agent = await openAgent({ script: process.argv.at(-1) });
    await agent.client.promptAndWait('go');
    await agent.close();`;

  expect(await toolsRunBy([process.execPath, '--input-type=module', '-e', module, '--'], env)).toBe(true);

  for (const mark of MARKS) expect(loadedText()).not.toContain(mark);
});

it('[A120] with a mode the same reports name the code for approvals and the sandbox', async () => {
  const { env, loadedText } = coverage();

  const program = [process.execPath, TAU, '--mode', 'rpc', '--approvals', 'ask', '--sandbox', 'auto'];
  const files = { 'settings.json': '{"approvals":{}}' };
  expect(await toolsRunBy(program, env, files)).toBe(false);

  for (const mark of MARKS) expect(loadedText()).toContain(mark);
});

/** Runs a program with three tool calls of the model. Whether they ran. */
async function toolsRunBy(
  command: readonly string[],
  env: Record<string, string>,
  userFiles: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const home = newHome();
  for (const [name, text] of Object.entries(userFiles)) writeUserFile(home, name, text);
  const [flag = '', path = ''] = scriptArgs(home, script);
  const isProgram = command.includes(TAU);
  const input = `${JSON.stringify({ type: 'prompt', message: 'go' })}\n`;
  const { code } = await startProgram(home, [...command, ...(isProgram ? [flag] : []), path], { env, input }).finished;
  const text = join(home.cwd, 'made', 'new.txt');
  return code === 0 && existsSync(text) && readFileSync(text, 'utf8') === 'two\n';
}

/** An environment in which a process reports its loaded code, and the text of all files of the program in its reports. */
function coverage(): { env: Record<string, string>; loadedText: () => string } {
  const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const loadedText = () => {
    const files = new Set(readdirSync(folder).flatMap((name) => filesIn(join(folder, name))));
    expect(files.size).toBeGreaterThan(0);
    return [...files].map((file) => readFileSync(file, 'utf8')).join('\n');
  };
  return { env: { NODE_V8_COVERAGE: folder }, loadedText };
}

/** The files of the program in a report of V8. */
function filesIn(report: string): string[] {
  const { result } = JSON.parse(readFileSync(report, 'utf8')) as { result: { url: string }[] };
  const paths = result.map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url));
  return paths.filter((path) => path.startsWith(dirname(TAU)) && existsSync(path));
}
