import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { type Home, newGate, readSessionFile, sessionFiles } from '../support/agent/test-agent.ts';
import { openTab, useBrowser } from '../support/page/browser.ts';
import { messageBox } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const card = (page: Page, command: string) => page.getByRole('region', { name: `Shell: ${command}` });

/** The stored shell commands of the session. */
function storedCommands(home: Home) {
  const [file = ''] = sessionFiles(home);
  return readSessionFile(file).flatMap(({ message }) => {
    if (message?.role !== 'bashExecution') return [];
    const { command, output, exitCode, cancelled, excludeFromContext = false } = message;
    return [{ command, output, exitCode, cancelled, excludeFromContext }];
  });
}

it('a line with ! runs in the shell, shows its output while it runs, and becomes part of the conversation', async () => {
  const server = await servePage();
  const view = await visit(server.loginLink);
  const { page } = view;
  const frames = await watchFrames(page);
  const command = 'mkfifo gate && echo first && cat gate';
  await messageBox(page).fill(`!${command}`);
  await page.getByText('Runs in the shell; the model sees the output').waitFor();

  await page.keyboard.press('Enter');
  await card(page, command).getByText('first', { exact: true }).waitFor();
  await submitPrompt(page, '!!echo beside');
  await card(page, 'echo beside').waitFor({ state: 'detached' });
  await frames.nextFromServer({ command: 'bash', success: true });
  await writeFile(join(server.home.cwd, 'gate'), 'second\n');
  await frames.nextFromServer({ command: 'bash', success: true });
  await card(page, command).waitFor({ state: 'detached' });

  await page.getByRole('navigation', { name: 'Sessions' }).getByTitle('!echo beside', { exact: true }).waitFor();
  await page.getByRole('heading', { name: '!echo beside' }).waitFor();
  const whole = { exitCode: 0, cancelled: false };
  expect(storedCommands(server.home)).toEqual([
    { command: 'echo beside', output: 'beside\n', ...whole, excludeFromContext: true },
    { command, output: 'first\nsecond\n', ...whole, excludeFromContext: false },
  ]);
  expect(view.complaints).toEqual([]);
});

it('[V55] a running shell command shows the last state of a line that it overwrites', async () => {
  const { page } = await visit((await servePage()).loginLink);
  const command = "mkfifo never && printf 'begun\\n10%%\\r50%%\\r99%%' && cat never";

  await submitPrompt(page, `!${command}`);
  const output = card(page, command).locator('pre');
  await output.getByText('99%').waitFor();

  expect(await output.textContent()).toBe('begun\n99%');
});

it('a shell command is stopped by its own button, and the run continues', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }];
  const server = await servePage({ script });
  const { page } = await visit(server.loginLink);
  const frames = await watchFrames(page);
  await submitPrompt(page, 'Talk');
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  const command = 'mkfifo never && echo begun && cat never';
  await submitPrompt(page, `!${command}`);
  await card(page, command).getByText('begun', { exact: true }).waitFor();

  await card(page, command).getByRole('button', { name: 'Stop commands' }).click();
  await card(page, command).getByText('stopped').waitFor();
  const isRunning = await page.getByRole('button', { name: 'Stop', exact: true }).isVisible();
  gate.open();
  await frames.nextFromServer({ type: 'agent_settled' });
  await card(page, command).waitFor({ state: 'detached' });

  expect(isRunning).toBe(true);
  expect(storedCommands(server.home)).toMatchObject([{ command, output: 'begun\n', cancelled: true }]);
});

it('a shell command is shown and can be stopped after a reload and in every other tab', async () => {
  const server = await servePage();
  const view = await visit(server.loginLink);
  const { page } = view;
  await submitPrompt(page, 'Talk');
  await page.waitForURL(/session=/);
  const other = await openTab(view);
  const command = 'mkfifo never && echo begun && cat never';
  await submitPrompt(page, `!${command}`);
  await card(page, command).getByText('begun', { exact: true }).waitFor();

  await card(other.page, command).waitFor();
  await page.reload();
  await card(page, command).waitFor();
  await page.keyboard.press('Escape');

  for (const tab of [page, other.page]) {
    await tab.getByRole('region', { name: 'Conversation' }).getByText('stopped').waitFor();
    await card(tab, command).waitFor({ state: 'detached' });
  }
  expect([...view.complaints, ...other.complaints]).toEqual([]);
});

it('Escape stops a shell command while no run is active', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  const command = 'mkfifo never && echo begun && cat never';
  await submitPrompt(page, `!${command}`);
  await card(page, command).getByText('begun', { exact: true }).waitFor();

  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'Conversation' }).getByText('stopped').waitFor();

  expect(storedCommands(server.home)).toMatchObject([{ command, cancelled: true }]);
});
