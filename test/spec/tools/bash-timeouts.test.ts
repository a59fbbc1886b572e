import { expect } from 'vitest';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { verifies } from '../../support/verifies.ts';

verifies('T26', 'the timeouts of settings.json end bash calls, and the result names the setting', async ({ open }) => {
  const command = 'echo begun; sleep 1000';
  const steps = [
    toolCallStep('bash', { command }, 'default'),
    toolCallStep('bash', { command, timeout: 600 }, 'bounded'),
    toolCallStep('bash', { command, timeout: 0.2 }, 'own'),
  ];
  const { peer } = await open({
    settings: { bash: { defaultTimeoutSeconds: 0.3, maxTimeoutSeconds: 0.5 } },
    script: [{ steps }, { text: 'done' }],
  });

  const ends = toolEnds(await peer.run('go'));

  const textOf = (id: string) => ends.find(({ toolCallId }) => toolCallId === id)?.text;
  expect(ends.map(({ isError }) => isError)).toEqual([true, true, true]);
  expect(textOf('default')).toMatch(/timed out after 0.3 seconds \(bash.defaultTimeoutSeconds in settings.json\)$/);
  expect(textOf('bounded')).toMatch(/timed out after 0.5 seconds \(bash.maxTimeoutSeconds in settings.json\)$/);
  expect(textOf('own')).toMatch(/timed out after 0.2 seconds$/);
});

verifies('T27', 'a background process does not delay the result of a bash call', async ({ open }) => {
  const steps = [toolCallStep('bash', { command: 'sleep 1000 & echo hi' })];
  const { peer } = await open({ script: [{ steps }, { text: 'done' }] });

  const records = await peer.run('go');

  expect(toolEnds(records)).toMatchObject([{ isError: false, text: 'hi\n' }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});
