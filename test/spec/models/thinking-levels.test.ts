import { expect } from 'vitest';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

const everyLevel = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

verifies('L9 L10 L11 G2', 'a model with every thinking level accepts every level', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted-slow'] });

  const taken = [];
  for (const level of everyLevel) {
    await peer.ok({ type: 'set_thinking_level', level });
    taken.push((await peer.ok({ type: 'get_state' })).thinkingLevel);
  }

  expect(taken).toEqual(everyLevel);
});

verifies('L9', 'a thinking level is stored and applies to model responses', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted'] });
  const { sessionFile } = await peer.ok({ type: 'get_state' });

  const response = await peer.request({ type: 'set_thinking_level', level: 'high' });
  await peer.run('say hello');
  await peer.ok({ type: 'set_thinking_level', level: 'off' });
  await peer.run('say hello');

  expect(response).not.toHaveProperty('data');
  const changes = readSessionFile(sessionFile).filter(({ type }) => type === 'thinking_level_change');
  expect(changes.map(({ thinkingLevel }) => thinkingLevel)).toEqual(['medium', 'high', 'off']);
  const { messages } = await peer.ok({ type: 'get_messages' });
  const kinds = [messages[1], messages[3]].map(({ content }) => content.map(({ type }: { type: string }) => type));
  expect(kinds).toEqual([['thinking', 'text'], ['text']]);
});

verifies('L11 L13', 'a level that the model lacks becomes the next higher, else the next lower', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted'] });
  const set = async (level: string) => {
    await peer.ok({ type: 'set_thinking_level', level });
    return (await peer.ok({ type: 'get_state' })).thinkingLevel;
  };

  const thinking = [await set('xhigh'), await set('low'), await set('max')];
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  const plain = [await set('high'), await set('minimal')];

  expect([thinking, plain]).toEqual([
    ['high', 'low', 'high'],
    ['off', 'off'],
  ]);
});

verifies('L12', 'brief is an alias of minimal', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'set_thinking_level', level: 'brief' });

  expect(await peer.find('thinking_level_changed')).toEqual({ type: 'thinking_level_changed', level: 'minimal' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ thinkingLevel: 'minimal' });
});

verifies('L14', 'an unknown thinking level is rejected', async ({ open }) => {
  const { peer } = await open();

  for (const level of ['much', 'HIGH', '', ' high', 'none', null, 3, ['high'], undefined]) {
    expect(await peer.refused({ type: 'set_thinking_level', level })).toMatchObject({ code: 'invalid_params' });
  }

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ thinkingLevel: 'medium' });
});

verifies('L15 L11', 'cycle_thinking_level cycles through the levels of the model', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted', '--thinking', 'off'] });

  const steps = [];
  for (let step = 0; step < 5; step++) steps.push(await peer.ok({ type: 'cycle_thinking_level' }));

  expect(steps.map(({ level }) => level)).toEqual(['minimal', 'low', 'medium', 'high', 'off']);
  expect(steps[0]).toEqual({ level: 'minimal' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ thinkingLevel: 'off' });
});

verifies('L16 D16', 'cycle_thinking_level returns null for a model without thinking', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted-small'] });

  const response = await peer.request({ type: 'cycle_thinking_level' });

  expect(response).toMatchObject({ success: true, data: null });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ thinkingLevel: 'off' });
});

verifies('L17 L11', 'get_available_thinking_levels returns the levels of the current model', async ({ open }) => {
  const { peer } = await open();
  const levels: Record<string, unknown> = {};

  for (const modelId of ['scripted', 'scripted-small', 'scripted-slow']) {
    await peer.ok({ type: 'set_model', provider: 'tau', modelId });
    levels[modelId] = await peer.ok({ type: 'get_available_thinking_levels' });
  }

  expect(levels).toEqual({
    scripted: { levels: ['off', 'minimal', 'low', 'medium', 'high'] },
    'scripted-small': { levels: ['off'] },
    'scripted-slow': { levels: everyLevel },
  });
});
