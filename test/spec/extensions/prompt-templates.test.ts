// biome-ignore-all lint/suspicious/noTemplateCurlyInString: prompt templates are full of them
import { expect } from 'vitest';
import { MAX_FILLED_LENGTH } from '../../../src/extend/resources/template-arguments.ts';
import { userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { type Home, newGate, newHome } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { verifies } from '../../support/verifies.ts';

/** A home with these templates. */
function homeWithTemplates(templates: Record<string, string>): Home {
  const home = newHome();
  const files = Object.entries(templates).map(([name, text]) => [`agent/prompts/${name}.md`, text]);
  writeFiles(home, Object.fromEntries(files));
  return home;
}

verifies('P18 N25', 'a template call is replaced by the template, filled in one pass', async ({ open }) => {
  const home = homeWithTemplates({
    fix: '---\ndescription: Fix it\n---\n\nFix $1, then ${@:2:1}. ${4:-Be quick.}\n',
    all: '$ARGUMENTS|$@|${@:2}|$10|${11:-eleven}',
  });
  const { peer } = await open({ home });

  await peer.run('/fix a.ts "b c" d');
  await peer.run('/fix $2 $1');
  await peer.run('/all a b c d e f g h i $1');

  expect(userTexts(peer.records)).toEqual([
    'Fix a.ts, then b c. Be quick.',
    'Fix $2, then $1. Be quick.',
    'a b c d e f g h i $1|a b c d e f g h i $1|b c d e f g h i $1|$1|eleven',
  ]);
});

verifies('P18', 'a message that calls no template, or expands to nothing, is sent unchanged', async ({ open }) => {
  const { peer } = await open({ home: homeWithTemplates({ fix: 'Fix it', echo: '$@' }) });
  const texts = ['/fixed', '/Fix', 'fix', ' /fix', '/echo', '/fix-it now'];

  for (const text of texts) await peer.run(text);

  expect(userTexts(peer.records)).toEqual(texts);
});

verifies(
  'P18 P21 P25 P38',
  'templates are filled before a message is queued or a run is stopped for it',
  async ({ open }) => {
    const home = homeWithTemplates({ fix: 'Fix $1' });
    const gate = newGate();
    const script = [{ steps: [{ text: 'one' }, { await: gate.path }] }, { text: 'two' }, { repeat: true }];
    const { peer } = await open({ home, script });
    await peer.ok({ type: 'prompt', message: '/fix first' });
    await peer.next('message_update');

    await peer.ok({ type: 'steer', message: '/fix steer' });
    await peer.ok({ type: 'follow_up', message: '/fix follow' });
    await peer.ok({ type: 'prompt', message: '/fix prompt', streamingBehavior: 'steer' });

    expect(peer.records.findLast(({ type }) => type === 'queue_update')).toMatchObject({
      steering: ['Fix steer', 'Fix prompt'],
      followUp: ['Fix follow'],
    });
    gate.open();
    await waitUntilSettled(peer);
    await peer.ok({ type: 'abort_and_prompt', message: '/fix last' });
    await waitUntilSettled(peer);
    expect(userTexts(peer.records)).toEqual(['Fix first', 'Fix steer', 'Fix prompt', 'Fix follow', 'Fix last']);
  },
);

verifies('N21', 'a template that grows too long is reported, and the message is sent unchanged', async ({ open }) => {
  const { peer } = await open({ home: homeWithTemplates({ many: '$@'.repeat(1000) }) });
  const message = `/many ${'x'.repeat(MAX_FILLED_LENGTH / 500)}`;

  const records = await peer.run(message);

  expect(records).toContainEqual(
    expect.objectContaining({
      type: 'extension_error',
      event: 'template_expansion',
      error: `Filled in, it has more than ${MAX_FILLED_LENGTH} characters`,
    }),
  );
  expect(userTexts(records)).toEqual([message]);
});

verifies('P18', 'a repeated message is not expanded again', async ({ open }) => {
  const home = homeWithTemplates({ fix: 'Fix $1' });
  const { peer } = await open({ home });

  await peer.run({ message: '/fix it', clientMessageId: 'c1' });
  const repeated = await peer.ok({ type: 'prompt', message: '/fix it', clientMessageId: 'c1' });

  expect(repeated).toMatchObject({ duplicate: true });
  expect(userTexts(peer.records)).toEqual(['Fix it']);
});
