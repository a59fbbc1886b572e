import { expect, it } from 'vitest';
import { newHome, startAgentProcess } from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { startProgram } from '../../support/processes/program.ts';

it('[Z28] everything sent before the end of input is answered, however late it is read', async () => {
  const { process, link } = startAgentProcess(newHome(), ['--no-session']);
  const peer = new Peer(link);
  await peer.run(`say ${'x'.repeat(1_000_000)}`);
  const before = peer.records.length;
  link.pause();
  for (let count = 0; count < 30; count++) peer.send({ id: `m${count}`, type: 'get_messages' });
  peer.send({ id: 'last', type: 'set_session_name', name: 'after all' });

  process.endInput();
  link.resume();
  await process.exited;

  const responses = peer.records.slice(before).filter(({ type }) => type === 'response');
  expect(responses).toHaveLength(31);
  expect(responses.every(({ success }) => success === true)).toBe(true);
});

it('[Z28 R13] a stalled model keeps the process alive until its run has settled', async () => {
  const embedder = `
    import { openAgent } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)};
    const { client, close } = await openAgent();
    client.onEvent((event) => {
      if (event.type === 'message_update') setTimeout(() => client.abort().catch(() => {}), 50).unref();
    });
    const { settled } = await client.promptAndWait('stall');
    console.log(settled.outcome);
    await close();`;

  const run = startProgram(newHome(), [process.execPath, '--input-type=module', '-e', embedder]);

  expect(await run.finished).toMatchObject({ code: 0, stdout: 'aborted\n' });
});
