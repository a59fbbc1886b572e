import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SessionManager } from '../../../src/index.ts';
import {
  collectEvents,
  createTestSession,
  nextEventOfType,
  nextSessionEvent,
} from '../../support/agent/agent-session.ts';
import { FILLER, fastRetryHome, NEAR_CONTEXT_LIMIT, textWithUsage } from '../../support/agent/compaction.ts';
import { callBash, rolesOf } from '../../support/agent/hooked-agent.ts';
import {
  NO_RETRY,
  newGate,
  newHome,
  readSessionFile,
  sessionFiles,
  writeSettings,
} from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { SLEEP_FOREVER } from '../../support/tools/shell-commands.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

it('[V15] a prompt resolves when its run is over, and its messages are stored', async () => {
  const { session, home } = await createTestSession();
  const events = collectEvents(session);

  await session.prompt('write made.txt: here');

  expect(readFileSync(join(home.cwd, 'made.txt'), 'utf8')).toBe('here');
  expect(rolesOf(session.messages)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  expect(session.state).toMatchObject({ isStreaming: false, messages: session.messages, errorMessage: undefined });
  expect([session.isStreaming, session.isIdle, session.isCompacting, session.isRetrying]).toEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(session.getSessionStats()).toMatchObject({ userMessages: 1, toolCalls: 1, sessionId: session.sessionId });
  expect(session.getContextUsage()).toMatchObject({ contextWindow: 200_000 });
  expect(session.getLastAssistantText()).toEqual(expect.any(String));
  expect(readSessionFile(session.sessionFile ?? '').filter(({ type }) => type === 'message')).toHaveLength(4);
  expect(events.map(({ type }) => type).filter((type) => /^(agent|turn|tool)/.test(type))).toEqual([
    'agent_start',
    'turn_start',
    'tool_execution_start',
    'tool_execution_end',
    'turn_end',
    'turn_start',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
});

it('[V15] every update holds the message so far, equal to the `partial` of its step', async () => {
  const { session } = await createTestSession({
    answers: [{ steps: [{ thinking: 'well' }, { text: 'one two three' }] }],
  });
  const events = collectEvents(session);

  await session.prompt('go');

  const updates = events.flatMap((event) => (event.type === 'message_update' ? [event] : []));
  const texts = updates.map(({ message }) => message.content.map((block) => (block.type === 'text' ? block.text : '')));
  expect(texts.map((parts) => parts.join(''))).toEqual(
    expect.arrayContaining(['', 'one ', 'one two ', 'one two three']),
  );
  for (const { message, assistantMessageEvent: step } of updates) {
    if ('partial' in step) expect(step.partial).toEqual(message);
  }
  expect(updates.at(-1)?.assistantMessageEvent).toMatchObject({ type: 'done', message: session.messages[1] });
});

it('[V15] a streaming message is in the state, and the getters describe the run', async () => {
  const gate = newGate();
  const { session } = await createTestSession({
    answers: [{ steps: [{ text: 'half' }, { await: gate.path }, { text: ' more' }] }],
  });
  const half = nextSessionEvent(session, (event) => JSON.stringify(event).includes('"half"'));

  const run = session.prompt('go');
  await half;

  expect([session.isStreaming, session.isIdle]).toEqual([true, false]);
  expect(session.state.streamingMessage?.content).toEqual([{ type: 'text', text: 'half' }]);
  expect(session.agent.signal?.aborted).toBe(false);
  await expect(session.prompt('me too')).rejects.toMatchObject({ code: 'agent_busy' });
  gate.open();
  await run;
  expect(session.state.streamingMessage).toBeUndefined();
});

it('[V15] an exception of a listener is ignored, and an unsubscribed listener gets no event', async () => {
  const { session } = await createTestSession();
  const eventTypes: string[] = [];
  session.subscribe(() => {
    throw new Error('clumsy');
  });
  session.subscribe(async () => {
    throw new Error('clumsy later');
  });
  session.subscribe(({ type }) => eventTypes.push(type));
  const unsubscribedTypes: string[] = [];
  session.subscribe(({ type }) => unsubscribedTypes.push(type))();

  await session.prompt('say hello');

  expect(session.getLastAssistantText()).toBe('hello');
  expect([eventTypes.at(-1), unsubscribedTypes]).toEqual(['agent_settled', []]);
});

it('[V15] a listener of `agent_settled` may start the next run at once', async () => {
  const { session } = await createTestSession();
  let second: Promise<void> | undefined;
  const stop = session.subscribe((event) => {
    if (event.type !== 'agent_settled') return;
    stop();
    second = session.prompt('say twice');
  });

  await session.prompt('say once');
  await second;

  expect(session.getLastAssistantText()).toBe('twice');
});

it('[V15] a rejected call carries its error code', async () => {
  const { session } = await createTestSession();

  await expect(session.prompt('')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(session.prompt(undefined as never)).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(session.prompt('x', { images: [{}] as never })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(session.setModel('tau/unheard-of')).rejects.toMatchObject({ code: 'model_not_found' });
  await expect(session.setModel('nothing')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(session.navigateTree('nowhere')).rejects.toMatchObject({ code: 'not_found' });
  await expect(session.fork('nowhere')).rejects.toMatchObject({ code: 'not_found' });
  await expect(session.sendCustomMessage({} as never)).rejects.toMatchObject({ code: 'invalid_params' });
  expect(() => session.setThinkingLevel('brilliant' as never)).toThrow('Not a thinking level');
  expect(() => session.setSteeringMode('never' as never)).toThrow('Not a queue mode');
  expect(session.isIdle).toBe(true);
});

it('[V15] a prompt without a usable model is rejected', async () => {
  const { session, modelFallbackMessage } = await createTestSession({
    model: { provider: 'anthropic', id: 'claude-sonnet-4-5' },
  });

  expect(session.model).toBeUndefined();
  expect(modelFallbackMessage).toContain('anthropic');
  await expect(session.prompt('hello')).rejects.toMatchObject({ code: 'model_not_found' });
});

it('[V15] steering and follow-up messages join the run, are counted and can be cleared', async () => {
  const gate = newGate();
  const { session } = await createTestSession({
    answers: [{ steps: [{ text: 'busy' }, { await: gate.path }] }, { text: 'steered' }, { text: 'followed' }],
  });
  const streaming = nextSessionEvent(session, (event) => JSON.stringify(event).includes('busy'));
  const run = session.prompt('go');
  await streaming;

  expect(await session.steer('left')).toBe('queued');
  expect(await session.followUp('later', [{ type: 'image', data: PIXEL, mimeType: 'image/png' }])).toBe('queued');
  expect([session.pendingMessageCount, session.getSteeringMessages(), session.getFollowUpMessages()]).toEqual([
    2,
    ['left'],
    ['later'],
  ]);
  expect(session.clearQueue()).toEqual({ steering: ['left'], followUp: ['later'] });
  expect(session.pendingMessageCount).toBe(0);
  await session.prompt('left again', { streamingBehavior: 'steer' });
  await session.sendUserMessage([{ type: 'text', text: 'later again' }], { deliverAs: 'followUp' });
  gate.open();
  await run;

  expect(session.getLastAssistantText()).toBe('followed');
  expect(rolesOf(session.messages)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
});

it('[V15] queue modes, auto-compaction and auto-retry take effect at once', async () => {
  const { session } = await createTestSession();

  session.setSteeringMode('all');
  session.setFollowUpMode('all');
  session.setAutoCompactionEnabled(false);
  session.setAutoRetryEnabled(false);

  expect([session.steeringMode, session.followUpMode]).toEqual(['all', 'all']);
  expect([session.autoCompactionEnabled, session.autoRetryEnabled]).toEqual([false, false]);
  expect(session.settingsManager.getSteeringMode()).toBe('all');
  expect(session.settingsManager.getCompactionEnabled()).toBe(false);
});

it('[V15] images, user messages and custom messages reach the model as pi sends them', async () => {
  const home = newHome();
  const { session } = await createTestSession({}, home);
  await session.prompt('look', { images: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] });
  expect(session.getLastAssistantText()).toContain('image/png');

  await session.sendUserMessage('say spoken');
  expect(session.getLastAssistantText()).toBe('spoken');

  await session.sendCustomMessage({ customType: 'note', content: 'a note', display: true });
  expect(session.messages.at(-1)).toMatchObject({ role: 'custom', content: 'a note' });

  await session.sendCustomMessage({ customType: 'note', content: 'say noted', display: true }, { triggerTurn: true });
  expect(rolesOf(session.messages).slice(-2)).toEqual(['custom', 'assistant']);
});

it('[V15] abort resolves when the run has stopped', async () => {
  const { session } = await createTestSession();
  const started = nextEventOfType(session, 'tool_execution_start');
  const run = session.prompt(`run \`${SLEEP_FOREVER}\``);
  await started;

  await session.abort();

  expect(session.isIdle).toBe(true);
  await run;
  await session.waitForIdle();
  expect(session.messages.at(-1)).toMatchObject({ role: 'toolResult', isError: true });
});

it('[V15] a prompt waits for retries, which emit events and can be aborted', async () => {
  const home = fastRetryHome({ retry: { baseDelayMs: 3_600_000 } });
  const { session } = await createTestSession({ answers: [{ error: { status: 529 } }] }, home);
  const waiting = nextEventOfType(session, 'auto_retry_start');
  const run = session.prompt('go');
  await waiting;
  await waitUntil(async () => session.isRetrying);
  expect(session.retryAttempt).toBe(1);

  session.abortRetry();
  await run;

  expect([session.isRetrying, session.state.errorMessage]).toEqual([false, expect.any(String)]);
});

it('[V15] a prompt resolves after a successful retry', async () => {
  const { session } = await createTestSession(
    { answers: [{ error: { status: 529 } }, { text: 'there' }] },
    fastRetryHome(),
  );

  await session.prompt('go');

  expect(session.getLastAssistantText()).toBe('there');
});

it('[V15] a model error ends the run and does not reject the prompt', async () => {
  const home = newHome();
  writeSettings(home, NO_RETRY);
  const { session } = await createTestSession({}, home);

  await session.prompt('fail with 400');

  expect(session.state.errorMessage).toEqual(expect.any(String));
  expect(session.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'error' });
});

it('[V15] compact replaces old messages with a summary', async () => {
  const { session } = await createTestSession(
    { answers: [textWithUsage('one', 100), textWithUsage('two', 200), textWithUsage('the gist', 300)] },
    fastRetryHome(),
  );
  await session.prompt(`first ${FILLER}`);
  await session.prompt(`second ${FILLER}`);
  const events = collectEvents(session);

  const { summary } = await session.compact('briefly');

  expect(summary).toBe('the gist');
  expect(rolesOf(session.messages)).toEqual(['compactionSummary', 'user', 'assistant']);
  expect(events.map(({ type }) => type).filter((type) => type.includes('compaction'))).toEqual([
    'compaction_start',
    'compaction_end',
  ]);
});

it('[V15] a compaction can be aborted before it starts and while it runs', async () => {
  const gate = newGate();
  const { session } = await createTestSession(
    { answers: [textWithUsage('one', 100), textWithUsage('two', 200), { steps: [{ await: gate.path }] }] },
    fastRetryHome(),
  );
  await session.prompt(`first ${FILLER}`);
  await session.prompt(`second ${FILLER}`);
  const hasStarted = nextEventOfType(session, 'compaction_start');

  const compaction = session.compact();
  await hasStarted;
  expect(session.isCompacting).toBe(true);
  session.abortCompaction();

  await expect(compaction).rejects.toThrow();
  const another = session.compact();
  session.abortCompaction();
  await expect(another).rejects.toThrow();
  expect([session.isCompacting, session.messages.length]).toEqual([false, 4]);
});

it('[V15] a run continues when its automatic compaction is aborted', async () => {
  const gate = newGate();
  const { session } = await createTestSession(
    {
      answers: [textWithUsage('one', 100), textWithUsage('two', NEAR_CONTEXT_LIMIT), { steps: [{ await: gate.path }] }],
    },
    fastRetryHome(),
  );
  const hasStarted = nextEventOfType(session, 'auto_compaction_start');
  await session.prompt(`first ${FILLER}`);
  const run = session.prompt(`second ${FILLER}`);
  await hasStarted;

  session.abortCompaction();
  await run;

  expect(rolesOf(session.messages)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

it('[V15] models and thinking levels can be set and cycled', async () => {
  const { session } = await createTestSession();

  await session.setModel({ provider: 'tau', id: 'scripted-slow' });
  expect(session.model?.id).toBe('scripted-slow');
  const forward = await session.cycleModel();
  const back = await session.cycleModel('backward');
  expect([forward?.model.id, back?.model.id]).toEqual(['scripted', 'scripted-slow']);
  session.setThinkingLevel('high');
  expect(session.thinkingLevel).toBe('high');
  expect(session.cycleThinkingLevel()).toBe(session.thinkingLevel);
  expect(session.getAvailableThinkingLevels()).toContain('xhigh');
  expect(session.supportsThinking()).toBe(true);
  expect(session.modelRegistry.find('tau', 'scripted')).toMatchObject({ id: 'scripted' });
});

it('[V15] cycling covers only the scoped models, with their thinking levels', async () => {
  const scoped = ['scripted', 'scripted-slow'].map((id) => ({
    model: { provider: 'tau', id },
    thinkingLevel: 'low' as const,
  }));
  const { session } = await createTestSession({ scopedModels: scoped });

  const ids = session.scopedModels.map(({ model }) => model.id);
  const result = await session.cycleModel();

  expect(ids).toEqual(['scripted', 'scripted-slow']);
  expect(result).toMatchObject({ model: { id: 'scripted-slow' }, thinkingLevel: 'low', isScoped: true });
});

it('[V15] bash commands run outside a run, and results of the program are recorded', async () => {
  const { session } = await createTestSession();
  const chunks: string[] = [];

  const result = await session.executeBash('echo out; exit 3', (chunk) => chunks.push(chunk));
  session.recordBashResult('mine', { output: 'own', exitCode: 0, cancelled: false, truncated: false });
  const hasStarted = nextEventOfType(session, 'bash_execution_update');
  const endless = session.executeBash(SLEEP_FOREVER, undefined, { excludeFromContext: true });
  await hasStarted;
  session.abortBash();

  expect(result).toMatchObject({ output: 'out\n', exitCode: 3, cancelled: false, truncated: false });
  expect(chunks.join('')).toBe('out\n');
  expect(await endless).toMatchObject({ cancelled: true, exitCode: undefined });
  expect(session.messages).toMatchObject([
    { role: 'bashExecution', command: 'echo out; exit 3', exitCode: 3 },
    { role: 'bashExecution', command: 'mine', output: 'own' },
    { role: 'bashExecution', excludeFromContext: true },
  ]);
});

it('[V15] a bash result recorded during a run joins the conversation after the run', async () => {
  const gate = newGate();
  const { session } = await createTestSession({ answers: [{ steps: [{ text: 'busy' }, { await: gate.path }] }] });
  const busy = nextSessionEvent(session, (event) => JSON.stringify(event).includes('busy'));
  const run = session.prompt('go');
  await busy;

  session.recordBashResult('mine', { output: 'own', exitCode: 0, cancelled: false, truncated: false });
  gate.open();
  await run;

  expect(rolesOf(session.messages)).toEqual(['user', 'assistant', 'bashExecution']);
});

it('[V15] the session can navigate, fork, start anew and switch back', async () => {
  const { session, home } = await createTestSession();
  await session.prompt('say one');
  await session.prompt('say two');
  const [first, second] = session.getUserMessagesForForking();

  const { editorText, cancelled } = await session.navigateTree(second?.entryId ?? '', { label: 'here' });

  expect([editorText, cancelled, session.messages.length]).toEqual(['say two', false, 2]);
  expect(await session.fork(first?.entryId ?? '')).toEqual({ selectedText: 'say one', cancelled: false });
  expect(session.messages).toEqual([]);
  const [file = ''] = sessionFiles(home);
  expect(await session.newSession({ parentSession: file })).toBe(true);
  session.setSessionName('fresh');
  expect([session.sessionName, session.sessionManager.getSessionName()]).toEqual(['fresh', 'fresh']);
  expect(await session.switchSession(file)).toBe(true);
  expect([session.sessionFile, session.sessionManager.getSessionFile()]).toEqual([file, file]);
  await session.prompt('say three');
  expect(session.getLastAssistantText()).toBe('three');
});

it('[V15] a branch summary can be aborted', async () => {
  const gate = newGate();
  const { session } = await createTestSession({
    answers: [{ text: 'one' }, { text: 'two' }, { steps: [{ await: gate.path }] }],
  });
  await session.prompt('first');
  await session.prompt('second');
  const [, second] = session.getUserMessagesForForking();

  const move = session.navigateTree(second?.entryId ?? '', { summarize: true });
  session.abortBranchSummary();

  expect(await move).toMatchObject({ cancelled: true });
  expect(session.messages).toHaveLength(4);
});

it('[V15] exportToHtml writes the session to a page', async () => {
  const { session, home } = await createTestSession();
  await session.prompt('say hello');

  const path = await session.exportToHtml(join(home.root, 'page.html'));

  expect(readFileSync(path, 'utf8')).toContain('hello');
});

it('[V15] tools are listed and activated by name; unknown names are ignored', async () => {
  const { session } = await createTestSession();

  session.setActiveToolsByName(['read', 'grep', 'nonsense']);

  expect(session.getActiveToolNames()).toEqual(['read', 'grep']);
  expect(session.getAllTools().map(({ name }) => name)).toEqual(expect.arrayContaining(['read', 'bash', 'find']));
  expect(session.systemPrompt).toContain(session.sessionManager.getCwd());
  expect(session.agent.state.tools.map(({ name }) => name)).toEqual(['read', 'grep']);
});

it('[V15] dispose stops the run and leaves no process, lock or file handle', async () => {
  const { session, home } = await createTestSession();
  const pidFile = join(home.cwd, 'pid');
  const run = session.prompt('run `sleep 1000 & echo $! > pid; sleep 1000`');
  await waitUntil(async () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const { sessionFile = '' } = session;

  await session.dispose();

  await run;
  expect(await filterAlive([pid])).toEqual([]);
  await expect(session.prompt('hello')).rejects.toMatchObject({ code: 'overloaded' });
  const reopened = await createTestSession({ sessionManager: SessionManager.open(sessionFile) }, home);
  expect(reopened.session.messages[0]).toMatchObject({ role: 'user' });
});

it('[V15] the agent view aborts, waits for idle and clears the queues', async () => {
  const gate = newGate();
  const { session } = await createTestSession({
    answers: [callBash, { steps: [{ text: 'busy' }, { await: gate.path }] }],
  });
  const { agent } = session;
  const eventTypes: string[] = [];
  const stop = agent.subscribe(({ type }) => eventTypes.push(type));
  const busy = nextSessionEvent(session, (event) => JSON.stringify(event).includes('busy'));
  void session.prompt('go');
  await busy;
  await session.steer('more');

  expect([agent.hasQueuedMessages(), agent.sessionId]).toEqual([true, session.sessionId]);
  agent.clearAllQueues();
  agent.abort();
  await agent.waitForIdle();
  stop();

  expect([agent.hasQueuedMessages(), session.isIdle, eventTypes.at(-1)]).toEqual([false, true, 'agent_settled']);
});
