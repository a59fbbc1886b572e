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
