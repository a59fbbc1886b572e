import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAgent } from '../../index.ts';
import type { AgentEvent, AgentMessage, McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import { deepFreeze, empty } from '../../wire/testing/streams.ts';
import { type ConversationView, emptyView, reduce } from './view.ts';

// An agent in this process that plays a script, and the events received from it.
async function play(...script: object[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'tau-view-'));
  const path = join(cwd, 'script.jsonl');
  writeFileSync(path, script.map((answer) => JSON.stringify(answer)).join('\n'));
  const agent = await openAgent({ cwd, agentDir: join(cwd, 'agent'), script: path, keep: true });
  onTestFinished(async () => {
    await agent.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const { client } = agent;
  const received: AgentEvent[] = [];
  client.onEvent((event) => received.push(event));
  return { client, received, view: () => received.reduce(reduce, emptyView) };
}

const call = (id: string, command: string) => ({ toolCall: { id, name: 'bash', arguments: { command } } });
const viewAfter = (...events: AgentEvent[]) => events.reduce(reduce, emptyView);

describe('the view of a conversation', () => {
  it('has the messages of get_messages after any run', async () => {
    const { client, view } = await play(
      { steps: [{ thinking: 'hm' }, { text: 'Look: ' }, call('c1', 'echo a'), call('c2', 'echo b')] },
      { text: 'done' },
      { steps: [{ text: 'well, ' }, { cut: true }] },
      { text: 'again' },
    );

    for (const message of ['first', 'second', 'third']) {
      await client.promptAndWait(message);
      expect(view().messages).toEqual((await client.getMessages()).messages);
    }

    expect(view()).toMatchObject({ streamingMessage: undefined, tools: [], queue: [], running: false });
  });

  it('has the same messages after an abort and a follow-up', async () => {
    const { client, received, view } = await play(
      { steps: [{ text: 'half ' }, { stall: true }] },
      { steps: [{ text: 'go ' }, { delayMs: 1 }, call('c1', 'true')] },
      { text: 'called' },
      { text: 'followed' },
    );
    await client.prompt({ message: 'first' });
    await waitForStep(received, client, 'text_delta');
    await client.followUp({ message: 'then' });
    await client.abort({});
    const waiting = view().queue.map(({ text }) => text);

    await client.promptAndWait('second');

    expect(waiting).toEqual(['then']);
    expect(view().queue).toEqual([]);
    expect(view().messages).toEqual((await client.getMessages()).messages);
  });

  it('shows the streaming message as it grows', async () => {
    const { client, received } = await play({ steps: [{ text: 'one two three' }] });

    await client.promptAndWait('count');

    const shown: string[] = [];
    let view = emptyView;
    for (const event of received) {
      view = reduce(view, event);
      const [block] = view.streamingMessage?.content ?? [];
      if (block?.type === 'text' && block.text !== shown.at(-1)) shown.push(block.text);
    }
    expect(shown.at(-1)).toBe('one two three');
    expect(shown.every((text) => 'one two three'.startsWith(text))).toBe(true);
  });

  it('shows running tools with their progress', () => {
    const tool = { toolCallId: 'c1', toolName: 'bash', args: { command: 'x' } };
    const partialResult = { content: [{ type: 'text' as const, text: 'half' }] };
    const started = viewAfter(
      { type: 'tool_execution_start', ...tool },
      { type: 'tool_execution_start', ...tool, toolCallId: 'c2' },
      { type: 'tool_execution_update', ...tool, partialResult },
    );

    const ended = reduce(started, {
      type: 'tool_execution_end',
      toolCallId: 'c1',
      toolName: 'bash',
      result: { content: [] },
      isError: false,
    });

    expect(started.tools).toEqual([
      { ...tool, progress: partialResult },
      { ...tool, toolCallId: 'c2', progress: undefined },
    ]);
    expect(ended.tools).toEqual([{ ...tool, toolCallId: 'c2', progress: undefined }]);
  });

  it('[V37] shows retries and compactions', () => {
    const retry = { attempt: 1, maxAttempts: 3, delayMs: 5, errorMessage: 'busy' };
    const compaction = { reason: 'manual', result: null, aborted: false, willRetry: false } as const;
    const settled = { runId: 'r', aborted: false, outcome: 'ok' as const, clientMessageIds: [] };

    const trying = viewAfter({ type: 'auto_retry_start', ...retry });
    const compacting = viewAfter({ type: 'compaction_start', reason: 'manual' });

    expect(trying.retry).toEqual(retry);
    expect(reduce(trying, { type: 'auto_retry_end', success: true, attempt: 1 }).retry).toBeUndefined();
    expect(reduce(trying, { type: 'agent_settled', ...settled }).retry).toBeUndefined();
    expect(compacting.compacting).toBe(true);
    expect(reduce(compacting, { type: 'compaction_end', ...compaction }).compacting).toBe(false);
  });

  it('[V37] shows the error of a run as a notice if a retry removed the failed message, and only then', () => {
    const failed: AgentMessage = { ...empty, stopReason: 'error', errorMessage: 'busy' };
    const question: AgentMessage = { role: 'user', content: 'again', timestamp: 1 };
    const failing: AgentEvent[] = [{ type: 'agent_start' }, { type: 'message_end', message: failed }];
    const retrying: AgentEvent[] = [
      { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 5, errorMessage: 'busy' },
      { type: 'auto_retry_end', success: false, attempt: 1, finalError: 'Retry cancelled' },
    ];
    const settled = { runId: 'r', aborted: false, errorMessage: 'busy', clientMessageIds: [] };
    const end: AgentEvent = { type: 'agent_settled', outcome: 'error', ...settled };

    const shown = viewAfter(...failing, end);
    const cancelled = viewAfter(...failing, ...retrying, end);
    const again = [{ type: 'message_end', message: question } as const, ...failing, ...retrying, end].reduce(
      reduce,
      shown,
    );

    expect([shown.messages, shown.notices]).toEqual([[failed], []]);
    expect([cancelled.messages, cancelled.notices]).toEqual([[], [{ kind: 'error', text: 'busy' }]]);
    expect([again.messages, again.notices]).toEqual([[failed, question], [{ kind: 'error', text: 'busy' }]]);
    expect(
      viewAfter(...failing, ...retrying, { type: 'agent_settled', outcome: 'aborted', ...settled }).notices,
    ).toEqual([]);
    expect(viewAfter(end).notices).toEqual([]);
  });

  it('runs from agent_start to agent_settled', async () => {
    const { client, received } = await play({ text: 'one' });

    await client.promptAndWait('go');

    const running = received.map((_, index) => received.slice(0, index + 1).reduce(reduce, emptyView).running);
    expect(running.indexOf(true)).toBe(received.findIndex(({ type }) => type === 'agent_start'));
    expect(running.lastIndexOf(true)).toBe(received.findIndex(({ type }) => type === 'agent_settled') - 1);
  });
});

describe('the view of the state', () => {
  it('follows every change', async () => {
    const { client, received } = await play({ text: 'one' });
    const snapshot = async () =>
      viewAfter({ type: 'state_synced', state: await client.getState(), messages: [] }).state;
    const before = { ...emptyView, state: await snapshot() };
    const seen = () => received.reduce(reduce, before).state;

    await client.setModel({ provider: 'tau', modelId: 'scripted-slow' });
    await client.setSessionName({ name: 'shop' });
    await client.setSteeringMode({ mode: 'all' });
    const named = [seen(), await snapshot()];
    await client.newSession({});

    expect(named[0]).toEqual(named[1]);
    expect(seen()).toEqual(await snapshot());
    expect(seen()).not.toHaveProperty('sessionName');
  });

  it('has the approval mode and the sandbox', () => {
    const modes = { approvalMode: 'auto', approvalModes: ['ask', 'auto'], sandbox: { status: 'on' } } as const;

    expect(viewAfter({ type: 'state_changed', state: modes }).state).toEqual(modes);
  });

  it('keeps a model that is null', () => {
    expect(viewAfter({ type: 'state_changed', state: { model: null, sessionName: null } }).state).toEqual({
      model: null,
    });
  });

  it('drops the messages when the session changes', async () => {
    const { client, view } = await play({ text: 'one' });
    await client.promptAndWait('go');

    await client.newSession({});

    expect(view().messages).toEqual((await client.getMessages()).messages);
    expect(view().messages).toEqual([]);
  });

  it('[V37] follows MCP servers', () => {
    const server = { name: 'a', status: 'ready' as const, tools: ['x'] };
    const failed = { name: 'b', status: 'failed' as const, tools: [] };
    const status = (reported: McpServerStatus): AgentEvent => ({ type: 'mcp_status', server: reported });

    const both = [status({ ...server, status: 'connecting', tools: [] }), status(failed), status(server)];

    expect(viewAfter(...both).state).toEqual({ mcpServers: [server, failed] });
    expect(viewAfter(...both, status({ ...failed, status: 'closed' })).state).toEqual({ mcpServers: [server] });
  });

  it('starts over with a snapshot', async () => {
    const { client } = await play({ text: 'one' });
    const state = await client.getState();
    const before = viewAfter({ type: 'message_end', message: empty });

    const view = reduce(before, { type: 'state_synced', state: { ...state, isStreaming: true }, messages: [] });

    expect(view).toMatchObject({ messages: [], running: true, state: { sessionId: state.sessionId } });
  });

  it('[V37] has no running work after a snapshot of an idle session', async () => {
    const { client } = await play({ text: 'one' });
    const state = await client.getState();
    const busy = viewAfter(
      { type: 'agent_start' },
      { type: 'message_start', message: empty },
      { type: 'tool_execution_start', toolCallId: 'c', toolName: 't', args: {} },
    );

    const view = reduce(busy, { type: 'state_synced', state, messages: [] });

    expect(view).toMatchObject({ running: false, streamingMessage: undefined, tools: [] });
  });

  it('[V37] has the queue, the compaction and the cursor of a snapshot', async () => {
    const { client } = await play({ text: 'one' });
    const queuedMessages = [{ id: 'q', kind: 'steer' as const, text: 'wait' }];
    const state = { ...(await client.getState()), isCompacting: true, queuedMessages };

    const view = viewAfter({ type: 'state_synced', state, messages: [], cursor: 'c' });

    expect(view).toMatchObject({ queue: queuedMessages, compacting: true, running: false });
    expect(view.earlier).toEqual({ from: 'end', cursor: 'c' });
    expect(view.state).not.toHaveProperty('queuedMessages');
    expect(view.state).not.toHaveProperty('isCompacting');
  });
});

describe('the reducer', () => {
  const rich: ConversationView = {
    ...emptyView,
    messages: [empty],
    streamingMessage: empty,
    tools: [{ toolCallId: 'c', toolName: 't', args: {}, progress: undefined }],
    queue: [{ id: 'q', kind: 'steer', text: 'x' }],
    running: true,
    state: { sessionName: 'shop' },
  };

  it('returns the same view for unknown events', () => {
    const events = [{ type: 'hologram', depth: 3 }, { type: 'ready' }, { type: 'turn_start' }, { type: '' }, {}];

    for (const event of events) expect(reduce(rich, event as AgentEvent)).toBe(rich);
  });

  it('returns the same view for an update without a streaming message', () => {
    const step = { type: 'text_delta', contentIndex: 0, delta: 'x' } as const;

    expect(reduce(emptyView, { type: 'message_update', assistantMessageEvent: step })).toBe(emptyView);
  });

  it('changes neither the view nor the event', async () => {
    const { client, received } = await play({ steps: [{ text: 'Look: ' }, call('c1', 'echo a')] }, { text: 'done' });
    await client.promptAndWait('go');

    const events = received.map(deepFreeze);

    expect(() => events.reduce((view, event) => deepFreeze(reduce(view, event)), deepFreeze(emptyView))).not.toThrow();
  });
});

// Resolves when an update of this type has arrived.
async function waitForStep(
  received: readonly AgentEvent[],
  client: { onEvent: (listener: () => void) => () => void },
  kind: string,
): Promise<void> {
  const isThere = () =>
    received.some((event) => event.type === 'message_update' && event.assistantMessageEvent.type === kind);
  if (isThere()) return;
  await new Promise<void>((resolve) => {
    const stop = client.onEvent(() => {
      if (!isThere()) return;
      stop();
      resolve();
    });
  });
}
