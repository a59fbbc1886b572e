import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate } from '../support/agent/test-agent.ts';
import { useBrowser } from '../support/page/browser.ts';
import { main, messageBox, waitForDraft } from '../support/page/page-actions.ts';
import { type PageServer, servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';
import { storedUserInputs } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const welcome = (page: Page) => main(page).getByRole('heading', { name: /Try it|What is to be done/ });

/** A page on a session with one finished run. */
async function inSession(server: PageServer) {
  const view = await visit(server.loginLink);
  const frames = await watchFrames(view.page);
  await submitPrompt(view.page, 'say hello');
  await frames.nextFromServer({ type: 'agent_settled' });
  await view.page.waitForURL(/session=/);
  return { ...view, frames };
}

/** Opens a new session and waits until it is shown. */
async function openNewSession(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await welcome(page).waitFor();
}

/** Runs a script and opens a new session in the same task, before a response can arrive. */
async function runAndOpenNewSession(page: Page, script: string): Promise<void> {
  await page.evaluate(`${script}; document.querySelector('.new-session').click();`);
  await welcome(page).waitFor();
}

const ENTER = `document.querySelector('[aria-label=Message]').dispatchEvent(
  new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))`;

/** Goes back to the previous session and returns its draft. */
async function goBackToSession(page: Page): Promise<string> {
  await page.goBack();
  await main(page).getByText('hello', { exact: true }).waitFor();
  return messageBox(page).inputValue();
}

it('a shell command that runs while the user leaves its session is not put back into the box', async () => {
  const server = await servePage();
  const { page, frames, complaints } = await inSession(server);
  const command = 'mkfifo gate && echo begun && cat gate';
  await submitPrompt(page, `!${command}`);
  await page.getByText('begun', { exact: true }).waitFor();

  await openNewSession(page);
  const meanwhile = await goBackToSession(page);
  await openNewSession(page);
  await writeFile(join(server.home.cwd, 'gate'), 'ended\n');
  await frames.nextFromServer({ command: 'bash', success: true });
  const then = await goBackToSession(page);
  await main(page).getByText('ended').waitFor();

  expect([meanwhile, then, await messageBox(page).inputValue()]).toEqual(['', '', '']);
  expect(storedUserInputs(server.home)).toEqual(['say hello', `!${command}`]);
  expect(complaints).toEqual([]);
});

it('a sent message whose response never arrives is not put back into the box', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({
    slow: `${waitForFileCode(JSON.stringify(gate.path))} tell(ctx, 'slowly done');`,
  });
  const server = await servePage({ home });
  const view = await visit(server.loginLink);
  const { page } = view;
  await messageBox(page).waitFor();
  await page.clock.install();
  const connected = page.waitForEvent('websocket');
  const frames = await watchFrames(page);
  const socket = await connected;
  await submitPrompt(page, 'say hello');
  await frames.nextFromServer({ type: 'agent_settled' });
  await page.waitForURL(/session=/);
  await submitPrompt(page, '/slow');
  await frames.nextFromPage({ message: '/slow' });

  await openNewSession(page);
  const closed = socket.waitForEvent('close');
  await page.clock.fastForward(60_000);
  await closed;
  const draft = await goBackToSession(page);
  gate.open();
  await page.getByText('slowly done').waitFor();

  expect([draft, await messageBox(page).inputValue()]).toEqual(['', '']);
  expect(view.complaints).toEqual([]);
});

it('a message is delivered though the user leaves its session at once, and is not put back into the box', async () => {
  const server = await servePage();
  const { page, frames, complaints } = await inSession(server);
  await messageBox(page).fill('say second');

  await runAndOpenNewSession(page, ENTER);
  await frames.nextFromServer({ command: 'prompt', success: true });
  const draft = await goBackToSession(page);
  await main(page).getByText('second', { exact: true }).waitFor();

  expect([draft, await messageBox(page).inputValue()]).toEqual(['', '']);
  expect(storedUserInputs(server.home)).toEqual(['say hello', 'say second']);
  expect(complaints).toEqual([]);
});

it('a message that is rejected after the user left its session is put back into the box of that session', async () => {
  const { page, frames } = await inSession(await servePage());
  await messageBox(page).fill('/model nobody/nothing');

  await runAndOpenNewSession(page, ENTER);
  await frames.nextFromServer({ command: 'prompt', success: false });
  const inNewSession = await messageBox(page).inputValue();
  await goBackToSession(page);
  await waitForDraft(page, '/model nobody/nothing');

  expect(inNewSession).toBe('');
});

it('a message that could not be sent is put back into the box of its session', async () => {
  const server = await servePage();
  const { page } = await inSession(server);
  await server.kill();
  await page.getByText('Reconnecting…').waitFor();
  await submitPrompt(page, 'Still there?');

  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.waitForURL((url) => url.search === '');
  const inNewSession = await messageBox(page).inputValue();
  await page.goBack();
  await waitForDraft(page, 'Still there?');

  expect(inNewSession).toBe('');
});

it('stopping a run and leaving its session puts queued messages back into the box of that session', async () => {
  const script = [{ text: 'hello' }, { steps: [{ text: 'Endless ' }, { stall: true }] }];
  const { page, frames, complaints } = await inSession(await servePage({ script }));
  await submitPrompt(page, 'Talk');
  await main(page).getByText('Endless').waitFor();
  await messageBox(page).fill('Precious words');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('list', { name: 'Queued messages' }).getByText('Precious words').waitFor();

  await runAndOpenNewSession(page, `document.querySelector('button.stop').click()`);
  await frames.nextFromServer({ command: 'clear_queue', success: true });
  const inNewSession = await messageBox(page).inputValue();
  await goBackToSession(page);
  await waitForDraft(page, 'Precious words');

  expect(inNewSession).toBe('');
  expect(complaints).toEqual([]);
});
