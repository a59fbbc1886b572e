import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolOutput } from '../../../agent/tool.ts';
import { withoutSecrets } from '../../../model/keys/secret-variables.ts';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { killFamily } from '../../../system/processes/process-group.ts';
import type { BashOperations, FileToolOperations } from '../api/bash-backend.ts';
import { parseFrontmatter, stripFrontmatter } from './coding-agent/frontmatter.ts';
import type { PiTool } from './coding-agent/pi-tool.ts';
import { piCodingAgent } from './pi-coding-agent.ts';

const family = 'stand-in tests';
afterEach(() => killFamily(family));

const shell = () => ({ cwd: '/', env: withoutSecrets(process.env), family });
// biome-ignore lint/suspicious/noExplicitAny: extensions know the names by pi's types, which are not here
const pi = piCodingAgent({ agentDir: '/agent', shell }) as any;

const textOf = ({ content }: ToolOutput) =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join();

/** Runs a tool as an extension does; an error becomes its message. */
const run = (tool: PiTool, params: Record<string, unknown>, signal?: AbortSignal) =>
  tool.execute('id', params, signal).then(textOf, (error: Error) => `Error: ${error.message}`);

describe('tools', () => {
  it('are tau’s own tools in pi’s shape', async () => {
    const cwd = tempFolder();
    const names = ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls'];
    const makers = names.map((name) => `create${name.charAt(0).toUpperCase()}${name.slice(1)}Tool`);
    const tools: PiTool[] = makers.flatMap((maker) => [pi[maker](cwd), pi[`${maker}Definition`](cwd)]);

    expect(tools.map(({ name }) => name)).toEqual(names.flatMap((name) => [name, name]));
    for (const { name, label, description, parameters } of tools) {
      expect({ label, description, type: parameters.type }).toEqual({
        label: name,
        description: expect.any(String),
        type: 'object',
      });
    }
    expect(pi.createCodingTools(cwd).map(({ name }: PiTool) => name)).toEqual(['read', 'bash', 'edit', 'write']);
    expect(pi.createReadOnlyTools(cwd).map(({ name }: PiTool) => name)).toEqual(['read', 'grep', 'find', 'ls']);
  });

  it('work on the files of this machine', async () => {
    const cwd = tempFolder();

    expect(await run(pi.createWriteTool(cwd), { path: 'a.txt', content: 'one\ntwo' })).toBe(
      'Successfully wrote 7 bytes to a.txt',
    );
    const edits = [{ oldText: 'two', newText: 'three' }];
    expect(await run(pi.createEditTool(cwd), { path: 'a.txt', edits })).toContain('Successfully replaced 1');
    expect(await run(pi.createReadTool(cwd), { path: 'a.txt', offset: 2 })).toBe('three');
    expect(await run(pi.createLsTool(cwd), {})).toBe('a.txt');
    expect(await run(pi.createBashTool(cwd), { command: 'cat a.txt; exit 3' })).toBe(
      'Error: one\nthree\n\nCommand exited with code 3',
    );
  });

  it('bash accepts a prefix and a spawn hook', async () => {
    const cwd = tempFolder();
    mkdirSync(join(cwd, 'inside'));
    const spawnHook = ({ command, env }: { command: string; env: object }) => ({
      command: `${command}; pwd`,
      cwd: join(cwd, 'inside'),
      env: { ...env, OWN: 'own' },
    });

    const output = await run(pi.createBashTool(cwd, { commandPrefix: 'before=1', spawnHook }), {
      command: 'echo "$before $OWN"',
    });

    expect(output).toBe(`1 own\n${join(cwd, 'inside')}\n`);
  });

  it('bash returns its result for programs too', async () => {
    const execute = (command: string) => pi.createBashTool('/').execute('1', { command });

    const [printed, silent, long] = await Promise.all(['echo hi', 'true', 'seq 3000'].map(execute));

    expect(printed.structuredContent).toEqual({
      output: 'hi\n',
      truncated: false,
      exit_code: 0,
      wall_time_seconds: expect.any(Number),
    });
    expect(silent.structuredContent).toMatchObject({ output: '', truncated: false });
    expect(long.structuredContent).toMatchObject({ truncated: true, output: expect.stringMatching(/3000$/) });
  });

  it('have lines for the system prompt', () => {
    for (const name of ['Read', 'Bash', 'Edit', 'Write']) {
      const { promptSnippet, promptGuidelines } = pi[`create${name}ToolDefinition`]('/');
      expect([typeof promptSnippet, promptGuidelines.length > 0]).toEqual(['string', true]);
    }
  });

  it('bash hides the API keys of providers from commands', async () => {
    process.env['ANTHROPIC_API_KEY'] = 'secret';
    try {
      expect(await run(pi.createBashTool('/'), { command: 'echo "[$ANTHROPIC_API_KEY]"' })).toBe('[]\n');
    } finally {
      delete process.env['ANTHROPIC_API_KEY'];
    }
  });
});

describe('a backend of an extension', () => {
  const shell = (exec: BashOperations['exec']): PiTool => pi.createBashTool('/far', { operations: { exec } });

  it('runs the commands of the bash tool', async () => {
    const calls: unknown[] = [];
    const tool = shell(async (command, cwd, { onData, timeout }) => {
      calls.push([command, cwd, timeout]);
      onData(Buffer.from('far '));
      onData(Buffer.from('away'));
      return { exitCode: command === 'bad' ? 2 : 0 };
    });

    expect(await run(tool, { command: 'good', timeout: 5 })).toBe('far away');
    expect(await run(tool, { command: 'bad' })).toBe('Error: far away\n\nCommand exited with code 2');
    expect(calls).toEqual([
      ['good', '/far', 5],
      ['bad', '/far', undefined],
    ]);
  });

  it.each([
    ['aborted', 'Command aborted'],
    ['timeout:5', 'Command timed out after 5 seconds'],
    ['no connection', 'no connection'],
  ])('that throws %s fails the command', async (message, output) => {
    const tool = shell(async () => {
      throw new Error(message);
    });

    expect(await run(tool, { command: 'x', timeout: 5 })).toBe(`Error: ${output}`);
  });

  it('publishes the output of a running command', async () => {
    const shown: string[] = [];
    let finish = () => {};
    const tool = shell(async (_command, _cwd, { onData }) => {
      onData(Buffer.from('so far'));
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return { exitCode: 0 };
    });

    await tool.execute('id', { command: 'x' }, undefined, (output) => {
      shown.push(textOf(output));
      finish();
    });

    expect(shown).toEqual(['so far']);
  });

  it('reads, edits and writes files', async () => {
    const files = new Map([['/far/a.txt', Buffer.from('one\ntwo\nthree')]]);
    const operations: FileToolOperations = {
      access: async (path) => {
        if (!files.has(path)) throw new Error(`no ${path}`);
      },
      readFile: async (path) => files.get(path) ?? Buffer.alloc(0),
      writeFile: async (path, content) => void files.set(path, Buffer.from(content)),
      mkdir: async (path) => void files.set(path, Buffer.from('folder')),
      detectImageMimeType: async (path) => (path.endsWith('.png') ? 'image/png' : null),
    };
    const [read, edit, write] = ['Read', 'Edit', 'Write'].map((name) =>
      pi[`create${name}Tool`]('/far', { operations }),
    );
    const edits = [{ oldText: 'two', newText: '2' }];

    expect(await run(read, { path: 'a.txt', offset: 2, limit: 1 })).toBe(
      'two\n\n[1 more lines in file. Use offset=3 to continue.]',
    );
    expect(await run(read, { path: 'b.txt' })).toBe('Error: no /far/b.txt');
    expect(await run(edit, { path: 'a.txt', edits })).toContain('Successfully replaced 1');
    expect(await run(write, { path: 'sub/c.png', content: 'x' })).toContain('Successfully wrote');
    expect(await run(read, { path: 'sub/c.png' })).toBe('Read image file [image/png],image');
    expect([...files].map(([path, bytes]) => [path, String(bytes)])).toEqual([
      ['/far/a.txt', 'one\n2\nthree'],
      ['/far/sub', 'folder'],
      ['/far/sub/c.png', 'x'],
    ]);
    expect(existsSync('/far')).toBe(false);
  });

  it('is rejected by tools that do not support one', async () => {
    const operations = { exists: () => true };

    expect(await run(pi.createLsTool('/', { operations }), {})).toContain('ls cannot be given operations in tau');
  });

  it('on this machine runs a command and reports its exit', async () => {
    const { exec } = pi.createLocalBashOperations() as BashOperations;
    const received: string[] = [];
    const onData = (data: Buffer) => void received.push(String(data));

    expect(await exec('echo out; echo err >&2; exit 3', '/', { onData })).toEqual({ exitCode: 3 });
    expect(received.join('')).toBe('out\nerr\n');
    await expect(exec('sleep 60', '/', { onData, timeout: 0.05 })).rejects.toThrow('timeout:0.05');
    await expect(exec('sleep 60', '/', { onData, signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    await expect(exec('true', '/no/such/folder', { onData })).rejects.toThrow('ENOENT');
    const throwing = () => {
      throw new Error('enough');
    };
    await expect(exec('echo hi', '/', { onData: throwing })).rejects.toThrow('enough');
  });
});

describe('texts', () => {
  it('are truncated by lines and bytes like tool output', () => {
    const lines = Array.from({ length: 10 }, (_, at) => `line ${at}`).join('\n');

    expect(pi.truncateHead(lines, { maxLines: 2 })).toMatchObject({
      content: 'line 0\nline 1',
      truncated: true,
      truncatedBy: 'lines',
      totalLines: 10,
      outputLines: 2,
      maxLines: 2,
      maxBytes: pi.DEFAULT_MAX_BYTES,
    });
    expect(pi.truncateTail(lines, { maxBytes: 13 })).toMatchObject({ content: 'line 8\nline 9', truncatedBy: 'bytes' });
    expect(pi.truncateTail(lines)).toMatchObject({ content: lines, truncated: false, totalLines: 10 });
    expect(pi.truncateHead('long line', { maxBytes: 4 })).toMatchObject({ content: '', firstLineExceedsLimit: true });
    expect(pi.truncateTail('long line', { maxBytes: 4 })).toMatchObject({ content: 'line', lastLinePartial: true });
    expect(pi.truncateTail('long line', { maxBytes: 4 })).toMatchObject({ truncatedBy: 'bytes' });
    expect(pi.truncateTail('long line', { maxBytes: 4, maxLines: 1 })).toMatchObject({ truncatedBy: 'lines' });
    expect(pi.truncateLine('x'.repeat(600))).toEqual({ text: `${'x'.repeat(500)}... [truncated]`, wasTruncated: true });
    expect(pi.truncateLine('short', 5)).toEqual({ text: 'short', wasTruncated: false });
    expect([pi.formatSize(2048), pi.DEFAULT_MAX_LINES]).toEqual(['2.0KB', 2000]);
  });

  it('may have front matter', () => {
    const text = '---\r\nname: x\nlist: [1, 2]\n---\n\nbody\n';

    expect(parseFrontmatter(text)).toEqual({ frontmatter: { name: 'x', list: [1, 2] }, body: 'body' });
    expect(stripFrontmatter(text)).toBe('body');
    expect(parseFrontmatter('\uFEFF---\na: 1\n---\nx')).toEqual({ frontmatter: { a: 1 }, body: 'x' });
    expect(() => stripFrontmatter('---\nbad: : :\n---\nb')).toThrow('Nested mappings');
    expect(parseFrontmatter('body')).toEqual({ frontmatter: {}, body: 'body' });
    expect(parseFrontmatter('---\nnever ends')).toEqual({ frontmatter: {}, body: '---\nnever ends' });
    expect(parseFrontmatter('---\n---\nx')).toEqual({ frontmatter: {}, body: 'x' });
    expect(() => parseFrontmatter('---\na: [\n---\n')).toThrow();
  });
});

describe('conversations', () => {
  const user = { role: 'user', content: 'hello', timestamp: 1 };
  const shell = {
    role: 'bashExecution',
    command: 'ls',
    output: 'a.txt',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  };

  it('convert to model messages and to text', () => {
    const messages = pi.convertToLlm([user, shell]);

    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'user']);
    expect(pi.serializeConversation(messages)).toMatch(/^\[User\]: hello\n\n\[User\]: Ran `ls`/);
    expect([user, shell].map(pi.estimateTokens)).toEqual([2, 2]);
  });

  it('are serialized with their tool calls as calls of functions', () => {
    const content = [
      { type: 'toolCall', id: '1', name: 'read', arguments: { path: '/x', limit: 1 } },
      { type: 'text', text: 'reading' },
      { type: 'toolCall', id: '2', name: 'ls', arguments: {} },
    ];
    const result = { role: 'toolResult', toolCallId: '1', content: [{ type: 'text', text: 'y'.repeat(2001) }] };

    expect(pi.serializeConversation([{ role: 'assistant', content }, result])).toBe(
      `[Assistant]: reading\n\n[Assistant tool calls]: read(path="/x", limit=1); ls()\n\n[Tool result]: ${'y'.repeat(2000)}\n\n[... 1 more characters truncated]`,
    );
    expect(pi.convertToLlm([{ role: 'custom', content: 'note', timestamp: 1 }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'note' }], timestamp: 1 },
    ]);
  });

  it('yield their context usage', () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: {} };
    const answer = (stopReason: string) => ({ type: 'message', message: { role: 'assistant', stopReason, usage } });

    expect(pi.calculateContextTokens(usage)).toBe(10);
    expect(pi.getLastAssistantUsage([answer('stop'), answer('aborted')])).toBe(usage);
    expect(pi.getLastAssistantUsage([answer('error')])).toBeUndefined();
    expect(pi.shouldCompact(90, 100, { enabled: true, reserveTokens: 20 })).toBe(true);
    expect(pi.shouldCompact(90, 100, { enabled: false, reserveTokens: 20 })).toBe(false);
    expect(pi.parseSessionEntries('{"a":1}\nbroken\n\n{"b":2}')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(pi.getLatestCompactionEntry([{ type: 'compaction', id: 1 }, user])).toEqual({ type: 'compaction', id: 1 });
    expect(pi.getLatestCompactionEntry([])).toBeNull();
  });
});

it('tool events are distinguished by tool', () => {
  const event = { toolName: 'bash' };

  expect(pi.isToolCallEventType('bash', event)).toBe(true);
  expect(pi.isToolCallEventType('read', event)).toBe(false);
  expect([pi.isBashToolResult(event), pi.isReadToolResult(event)]).toEqual([true, false]);
  expect(pi.defineTool(event)).toBe(event);
});

it("withFileMutationQueue waits for tau's own tools", async () => {
  const path = join(tempFolder(), 'a.txt');
  const order: string[] = [];
  const slow = pi.withFileMutationQueue(path, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push('first');
  });
  const writing = run(pi.createWriteTool(dirname(path)), { path, content: 'x' }).then(() => order.push('tool'));

  await Promise.all([slow, writing]);

  expect(order).toEqual(['first', 'tool']);
  expect(readFileSync(path, 'utf8')).toBe('x');
});

it('a failing bus listener does not affect the others', () => {
  const bus = pi.createEventBus();
  const received: unknown[] = [];
  bus.on('channel', () => {
    throw new Error('not me');
  });
  const unsubscribe = bus.on('channel', (data: unknown) => received.push(data));

  bus.emit('channel', 1);
  bus.emit('other', 2);
  unsubscribe();
  bus.emit('channel', 3);

  expect(received).toEqual([1]);
});

it('paths of the package and the agent are available', () => {
  const root = pi.getPackageDir();

  expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).toMatchObject({ name: 'tau-agent' });
  expect(pi.VERSION).toBe('1.5.0');
  expect([existsSync(pi.getDocsPath()), existsSync(pi.getReadmePath())]).toEqual([true, true]);
  expect([pi.getAgentDir(), pi.CONFIG_DIR_NAME]).toEqual(['/agent', '.pi']);
});
