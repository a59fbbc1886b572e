import { expect, it } from 'vitest';
import { bash, homeWithCommands } from '../support/agent/extensions.ts';
import { useBrowser } from '../support/page/browser.ts';
import { main } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const GATE = `pi.on('tool_call', async (_, ctx) => {
  if (!(await ctx.ui.confirm('Run it?', 'Sure?'))) return { block: true, reason: 'Not today' };
});`;

it('[V46] a tool call that waits for permission is shown as waiting for the user, then as denied or done', async () => {
  const { home } = homeWithCommands({}, GATE);
  const script = [bash('echo one'), { text: 'Then not.' }, bash('echo two'), { text: 'Thanks.' }];
  const { page, complaints } = await visit((await servePage({ home, script })).loginLink);
  const outcomes = () => main(page).locator('.tool .outcome').allInnerTexts();

  await submitPrompt(page, 'Go');
  await page.getByRole('button', { name: 'No' }).waitFor();
  await main(page).getByText('waiting for you').waitFor();
  const before = await outcomes();
  await page.getByRole('button', { name: 'No' }).click();
  await main(page).getByText('Then not.').waitFor();
  const denied = await outcomes();
  const reason = await main(page).getByText('Not today').isVisible();
  await submitPrompt(page, 'Again');
  await page.getByRole('button', { name: 'Yes' }).click();
  await main(page).getByText('Thanks.').waitFor();
  await page.reload();
  await main(page).getByText('Thanks.').waitFor();

  expect(before).toEqual(['waiting for you']);
  expect(denied[0]).toMatch(/^denied/);
  expect(reason).toBe(true);
  expect((await outcomes()).map((text) => text.split(' · ')[0])).toEqual([
    'denied',
    expect.not.stringMatching(/denied/),
  ]);
  expect(complaints).toEqual([]);
});
