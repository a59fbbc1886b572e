import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Tool } from '../../agent/tool.ts';
import { killFamily } from '../../system/processes/process-group.ts';
import { McpServers } from './mcp-servers.ts';

const SERVER = join(import.meta.dirname, '../../../test/fixtures/mcp/stdio-server.mjs');
const ASKING_SERVER = join(import.meta.dirname, '../../../test/fixtures/mcp/asking-server.mjs');
const NEVER = new AbortController().signal;
const family = 'mcp-servers-test';

afterEach(() => {
  vi.useRealTimers();
});

/** MCP servers of an agent with its own tool `s__cwd`; records statuses, warnings and offered tools. */
function newServers() {
  const published: string[] = [];
  const warnings: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'tau-mcp-'));
  let offered: readonly Tool[] = [];
  const servers = new McpServers({
    agentDir: folder,
    cwd: () => folder,
    dialogs: { open: async () => undefined },
    hasClients: false,
    canShowDialogs: () => false,
    model: () => null,
    registry: undefined as never,
    reportUnread: () => {},
    environment: () => ({ env: process.env, variables: process.env, family, cwd: folder }),
    change: (work) => work(),
    publishTools: (tools) => {
      offered = tools;
    },
    publish: ({ name, status }) => void published.push(`${name} ${status}`),
    isAgentTool: (name) => name === 's__cwd',
    warn: (text) => void warnings.push(text),
  });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => killFamily(family));
  onTestFinished(() => servers.close());
  const use = (behaviour: object, more: object = {}) =>
    servers.setClientServers(
      { s: { command: process.execPath, args: [SERVER, JSON.stringify(behaviour)], ...more } },
      NEVER,
    );
  const call = (name: string) => {
    const tool = offered.find((one) => one.name === name);
    if (!tool) throw new Error(`${name} is not offered`);
    return tool.execute({ toolCallId: '', args: {}, signal: NEVER, update: () => {} });
  };
  const names = () => offered.map(({ name }) => name);
  return { servers, published, warnings, folder, use, call, names };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

it('a tool name that the agent already uses is left out with a warning', async () => {
  const { use, names, warnings } = newServers();

  const [status] = await use({});

  expect(names()).not.toContain('s__cwd');
  expect(status?.tools).toEqual(names());
  expect(warnings).toEqual(['MCP server s: its tool s__cwd is left out: there is another one of that name']);
});

it('a call fails after ten minutes, even if the entry allows more', async () => {
  const { use, call } = newServers();
  await use({}, { timeoutMs: 10 ** 9 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  const called = expect(call('s__hang')).rejects.toThrow('The MCP server s did not finish within 600 seconds');
  await until(() => vi.getTimerCount() > 1);
  await vi.advanceTimersByTimeAsync(600_000);

  await called;
});

it('a task is cancelled after ten minutes', async () => {
  const { servers, call, folder } = newServers();
  const notes = join(folder, 'notes');
  const behaviour = {
    tools: [{ name: 'long', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } }],
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    polls: 10 ** 9,
    notes,
  };
  const args = [ASKING_SERVER, JSON.stringify(behaviour)];
  await servers.setClientServers({ s: { command: process.execPath, args, timeoutMs: 10 ** 9 } }, NEVER);
  const noted = (line: string) => existsSync(notes) && readFileSync(notes, 'utf8').includes(line);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  const called = expect(call('s__long')).rejects.toThrow('The MCP server s did not finish within 600 seconds');
  await until(() => noted('tasks/get'));
  await vi.advanceTimersByTimeAsync(600_000);

  await called;
  await until(() => noted('cancel t1'));
});

it('closing also ends a connection that becomes ready meanwhile', async () => {
  const { McpConnection } = await import('./connection.ts');
  const { servers, use } = newServers();
  const close = vi.fn(async () => {});
  let closed: Promise<void> | undefined;
  const open = vi.spyOn(McpConnection, 'open').mockImplementation(async () => {
    closed = servers.close();
    return { close, listTools: async () => ({ tools: [], problems: [] }), listPrompts: async () => [] } as never;
  });
  onTestFinished(() => open.mockRestore());

  await use({});
  await closed;

  expect(close).toHaveBeenCalled();
});

it('[N32] a server that does not connect fails after ten seconds', async () => {
  const { use, published } = newServers();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  const used = use({ silent: 'initialize' });
  await until(() => vi.getTimerCount() > 0);
  await vi.advanceTimersByTimeAsync(9999);
  const before = [...published];
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();

  expect(await used).toMatchObject([{ status: 'failed', error: 'did not connect within 10 seconds' }]);
  expect(before).toEqual(['s connecting']);
});

it('[N37] a lost server is reconnected four times with growing delays', async () => {
  const { use, call, published, folder } = newServers();
  await use({ once: join(folder, 'once') });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const count = (status: string) => published.filter((line) => line === `s ${status}`).length;

  await expect(call('s__crash')).rejects.toThrow('ended with code 3');
  for (const [index, delay] of [0, 2000, 10_000, 60_000].entries()) {
    await vi.advanceTimersByTimeAsync(delay / 2);
    if (delay > 0) expect(count('connecting')).toBe(index + 1);
    await vi.advanceTimersByTimeAsync(delay / 2);
    await until(() => count('failed') === index + 2);
  }
  await vi.advanceTimersByTimeAsync(3_600_000);

  expect(count('connecting')).toBe(5);
  expect(published.at(-1)).toBe('s failed');
});

it('a successful call resets the reconnect delays', async () => {
  const { use, call, published } = newServers();
  await use({});
  const ready = () => published.filter((line) => line === 's ready').length;

  for (let losses = 1; losses <= 5; losses++) {
    await call('s__echo');
    await expect(call('s__crash')).rejects.toThrow('ended with code 3');
    await until(() => ready() === losses + 1);
  }

  expect(published.at(-1)).toBe('s ready');
});

it('a tool list that changes constantly is read at most once per interval', async () => {
  const { use, call, folder } = newServers();
  const notes = join(folder, 'notes');
  await use({ notes, restless: true });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const lists = () => readFileSync(notes, 'utf8').match(/list/g)?.length ?? 0;

  for (let calls = 0; calls < 20; calls++) {
    await call('s__echo');
    await vi.advanceTimersByTimeAsync(10);
  }
  await until(() => lists() > 1);
  expect(lists()).toBe(2);
  await vi.advanceTimersByTimeAsync(1000);
  await until(() => lists() === 3);
});
