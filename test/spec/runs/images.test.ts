import { expect } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const data = Buffer.from('not really an image').toString('base64');
const image = (mimeType: string) => ({ type: 'image', data, mimeType });

const sentImages = [
  image('image/png'),
  { data, mimeType: 'image/jpeg' },
  { type: 'image', source: { type: 'base64', mediaType: 'image/gif', data } },
  { type: 'image', source: { type: 'base64', media_type: 'image/webp', data } },
];
const storedImages = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].map(image);

/** The content of every user message in a session file. */
const storedContents = (path: string | undefined) =>
  readSessionFile(path ?? '').flatMap(({ message }) => (message?.role === 'user' ? [message.content] : []));

verifies('P7 P8 P9 P10', 'images are accepted in two forms and always sent and stored in one', async ({ open }) => {
  const { peer, sessionFiles } = await open();

  const records = await peer.run({ message: 'look', images: sentImages });

  const content = [{ type: 'text', text: 'look' }, ...storedImages];
  const messageEvents = records.filter(({ type }) => type === 'message_start' || type === 'message_end');
  expect(messageEvents.slice(0, 2).map(({ message }) => (message as { content: unknown }).content)).toEqual([
    content,
    content,
  ]);
  expect(storedContents(sessionFiles()[0])).toEqual([content]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0].content).toEqual(content);
  await waitUntilSettled(peer);
});

verifies('P7 P8', 'images reach the model', async ({ open }) => {
  const { peer } = await open();

  await peer.run({ message: 'what do you see?', images: [image('image/png'), image('image/gif')] });

  const { text } = await peer.ok({ type: 'get_last_assistant_text' });
  expect(text).toContain('image/png');
  expect(text).toContain('image/gif');
});

verifies('P7', 'a prompt may consist of an image without text', async ({ open }) => {
  const { peer, sessionFiles } = await open();

  const [response] = await peer.run({ message: '', images: [image('image/png')] });

  expect(response).toMatchObject({ success: true, data: { disposition: 'started' } });
  expect(storedContents(sessionFiles()[0])).toEqual([[{ type: 'text', text: '' }, image('image/png')]]);
});

/** Queues a message with images and expects them in the delivered message. */
const delivers =
  (type: string) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer, sessionFiles } = await open({ script: [{ steps: [{ await: gate.path }] }, { text: 'seen' }] });
    await peer.ok({ type: 'prompt', message: 'wait' });

    await peer.ok({ type, message: 'look', images: sentImages });
    gate.open();

    await waitUntilSettled(peer);
    expect(storedContents(sessionFiles()[0])).toEqual([
      [{ type: 'text', text: 'wait' }],
      [{ type: 'text', text: 'look' }, ...storedImages],
    ]);
  };

verifies('P20 P10', 'images of steer are delivered with its message', delivers('steer'));

verifies('P24 P10', 'images of follow_up are delivered with its message', delivers('follow_up'));

verifies('P9 P34', 'abort_and_prompt accepts images', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ stall: true, when: '^wait$' }, { text: 'seen' }] });
  await peer.ok({ type: 'prompt', message: 'wait' });

  await peer.ok({ type: 'abort_and_prompt', message: 'look', images: sentImages.slice(2, 3) });

  await waitUntilSettled(peer);
  expect(storedContents(sessionFiles()[0])[1]).toEqual([{ type: 'text', text: 'look' }, image('image/gif')]);
});

verifies('P48', 'an invalid image is rejected and no run starts', async ({ open }) => {
  const { peer } = await open();

  for (const [image, error] of [
    [{ data, mimeType: 'text/plain' }, 'Invalid parameters: images[0] must be an image, not text/plain'],
    [{ data: '!!!', mimeType: 'image/png' }, 'Invalid parameters: images[0] must have data in base64'],
    [{ data: '', mimeType: 'image/png' }, 'Invalid parameters: images[0].data must not be empty'],
  ]) {
    expect(await peer.request({ type: 'prompt', message: 'look', images: [image] })).toMatchObject({
      success: false,
      code: 'invalid_params',
      error,
    });
  }
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 0 });
});
