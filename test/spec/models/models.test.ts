import { expect } from 'vitest';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

verifies('L1 L2 D1', 'set_model switches the model and returns it', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  const model = await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  expect(model).toMatchObject({ provider: 'tau', id: 'scripted-small', name: 'Scripted (small)', cost });
  const state = await peer.ok({ type: 'get_state' });
  expect(state.model).toEqual(model);
  await peer.run('first');
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[1]).toMatchObject({ provider: 'tau', model: 'scripted-small', api: model.api });
  const change = readSessionFile(state.sessionFile).findLast(({ type }) => type === 'model_change');
  expect(change).toMatchObject({ provider: 'tau', modelId: 'scripted-small' });
});

verifies('L1', 'a model set during a run is used for the next model call', async ({ open }) => {
  const gate = newGate();
  const call = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
  const { peer } = await open({ script: [{ steps: [{ text: 'a ' }, { await: gate.path }, call] }, { text: 'b' }] });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.next('message_update');

  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  gate.open();
  await peer.next('agent_settled');

  const { messages } = await peer.ok({ type: 'get_messages' });
  const models = messages.flatMap(({ model }: { model?: string }) => (model ? [model] : []));
  expect(models).toEqual(['scripted', 'scripted-small']);
});

verifies('L3', 'an unknown model is rejected with its full name', async ({ open }) => {
  const { peer } = await open();
  const before = await peer.ok({ type: 'get_state' });

  for (const [provider, modelId] of [
    ['invalid', 'model'],
    ['tau', 'Scripted'],
    ['constructor', '__proto__'],
  ]) {
    expect(await peer.refused({ type: 'set_model', provider, modelId })).toMatchObject({
      command: 'set_model',
      error: `Model not found: ${provider}/${modelId}`,
      code: 'model_not_found',
    });
  }
  expect(await peer.refused({ type: 'set_model', modelId: 'scripted' })).toMatchObject({ code: 'invalid_params' });

  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
});

verifies('L4 L5', 'cycle_model cycles through the available models', async ({ open }) => {
  const { peer } = await open();
  const { models } = await peer.ok({ type: 'get_available_models' });
  const { model: first } = await peer.ok({ type: 'get_state' });

  const steps = [];
  for (const _ of models) steps.push(await peer.ok({ type: 'cycle_model' }));

  expect(first).toEqual(models[0]);
  const [, second, third] = models;
  expect(steps).toEqual([
    { model: second, thinkingLevel: 'off', isScoped: false },
    { model: third, thinkingLevel: 'medium', isScoped: false },
    { model: first, thinkingLevel: 'medium', isScoped: false },
  ]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: first, thinkingLevel: 'medium' });
});

verifies('L5', 'cycle_model returns the thinking level in force with the model', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted-slow', '--thinking', 'max'] });

  const step = await peer.ok({ type: 'cycle_model' });

  expect(step).toMatchObject({ model: { id: 'scripted' }, thinkingLevel: 'high', isScoped: false });
});

verifies('L8 L21 D1 D2 D3', 'the available models are the scripted ones with all fields', async ({ open }) => {
  const { peer } = await open();

  const { models } = await peer.ok({ type: 'get_available_models' });

  const scripted = { api: 'tau-scripted', provider: 'tau', cost, supportsTools: true };
  expect(models).toEqual([
    expect.objectContaining({ ...scripted, id: 'scripted', reasoning: true, thinking: true, supportsImages: true }),
    expect.objectContaining({
      ...scripted,
      id: 'scripted-small',
      reasoning: false,
      thinking: false,
      supportsImages: false,
    }),
    expect.objectContaining({
      ...scripted,
      id: 'scripted-slow',
      reasoning: true,
      thinking: true,
      supportsImages: true,
    }),
  ]);
  for (const model of models) {
    expect(model).toMatchObject({
      name: expect.any(String),
      baseUrl: expect.any(String),
      input: expect.arrayContaining(['text']),
      contextWindow: expect.any(Number),
      maxTokens: expect.any(Number),
    });
  }
});

verifies('L18', 'without a usable model the agent uses tau/scripted and reports why', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'here' }] });

  const state = await peer.ok({ type: 'get_state' });

  expect(state).toMatchObject({
    model: { provider: 'tau', id: 'scripted' },
    modelFallbackMessage: expect.stringContaining('scripted'),
  });
  await peer.run('hello');
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'here' });
});

verifies('L18 Z4', 'a named model sets no modelFallbackMessage', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted-slow'] });

  const state = await peer.ok({ type: 'get_state' });

  expect(state).toMatchObject({ model: { provider: 'tau', id: 'scripted-slow' } });
  expect(state).not.toHaveProperty('modelFallbackMessage');
});

verifies('J21', 'a reopened session restores its model and thinking level', async ({ open }) => {
  const home = newHome();
  const first = await open({ home, script: [{ text: 'one' }] });
  await first.peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-slow' });
  await first.peer.ok({ type: 'set_thinking_level', level: 'xhigh' });
  await first.peer.run('hello');
  const { sessionFile, model } = await first.peer.ok({ type: 'get_state' });
  await first.close();

  const again = await open({ home, args: ['--session', sessionFile] });
  const other = await open({ home });

  expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ model, thinkingLevel: 'xhigh' });
  expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({
    model: { id: 'scripted' },
    thinkingLevel: 'medium',
  });
});

verifies('J21', 'switch_session restores the model of each session', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('model_change', '11111111', 'bbbbbbbb', { provider: 'tau', modelId: 'scripted-slow' }),
    entry('thinking_level_change', '22222222', '11111111', { thinkingLevel: 'max' }),
  ]);
  const { peer } = await open({ home, script: [{ text: 'one' }] });
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  await peer.run('hello');
  const { sessionFile } = await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'switch_session', sessionPath });
  const there = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

  expect(there).toMatchObject({ model: { id: 'scripted-slow' }, thinkingLevel: 'max' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted-small' }, thinkingLevel: 'off' });
});

verifies('J21', 'the model of the last assistant message wins over an earlier model change', async ({ open }) => {
  const home = newHome();
  const [top, question, reply] = shortConversation(home.cwd) as [object, object, object];
  const change = entry('model_change', '11111111', null, { provider: 'tau', modelId: 'scripted-slow' });
  const path = storeSession(home, [top, change, { ...question, parentId: '11111111' }, reply]);

  const { peer } = await open({ home, args: ['--session', path] });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted' } });
});
