import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { homeWithCommands, waitForFileCode } from '../support/agent/extensions.ts';
import { newGate } from '../support/agent/test-agent.ts';
import { watchFrames } from '../support/page/socket-frames.ts';
import { messageBox, waitForDraft, main } from '../support/page/page-actions.ts';
import { type PageServer, submitPrompt, servePage } from '../support/page/page-server.ts';
import { storedUserInputs } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const welcome = (page: Page) => main(page).getByRole('heading', { name: /Try it|What is to be done/ });

/** A page in a session in which something was said. */
async function inSession(server: PageServer) {
  const view = await visit(server.loginLink);
  const frames = await watchFrames(view.page);
  await submitPrompt(view.page, 'say hello');
  await frames.nextFromServer({ type: 'agent_settled' });
  await view.page.waitForURL(/session=/);
  return { ...view, frames };
}

/** Goes to a new session, and waits until it is there. */
async function leave(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await welcome(page).waitFor();
}

/** Presses something and goes to a new session before anybody can answer. */
async function pressAndLeave(page: Page, pressed: string): Promise<void> {
  await page.evaluate(`${pressed}; document.querySelector('.new-session').click();`);
  await welcome(page).waitFor();
}

const ENTER = `document.querySelector('[aria-label=Message]').dispatchEvent(
  new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))`;

/** Goes back to the session that was left; answers what is written there. */
async function comeBack(page: Page): Promise<string> {
  await page.goBack();
  await main(page).getByText('hello', { exact: true }).waitFor();
  return messageBox(page).inputValue();
}

it('a command of the shell that runs when its session is left is not to be run again', async () => {
  const server = await servePage();
  const { page, frames, complaints } = await inSession(server);
  const command = 'mkfifo gate && echo begun && cat gate';
  await submitPrompt(page, `!${command}`);
  await page.getByText('begun', { exact: true }).waitFor();

  await leave(page);
  const meanwhile = await comeBack(page);
  await leave(page);
  await writeFile(join(server.home.cwd, 'gate'), 'ended\n');
  await frames.nextFromServer({ command: 'bash', success: true });
  const then = await comeBack(page);
  await main(page).getByText('ended').waitFor();

  expect([meanwhile, then, await messageBox(page).inputValue()]).toEqual(['', '', '']);
  expect(storedUserInputs(server.home)).toEqual(['say hello', `!${command}`]);
  expect(complaints).toEqual([]);
});

it('nobody waits for ever: what was sent is not to be sent again, even if no answer has come', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({ slow: `${waitForFileCode(JSON.stringify(gate.path))} tell(ctx, 'slowly done');` });
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

  await leave(page);
  const closed = socket.waitForEvent('close');
  await page.clock.fastForward(60_000);
  await closed;
  const written = await comeBack(page);
  gate.open();
  await page.getByText('slowly done').waitFor();

  expect([written, await messageBox(page).inputValue()]).toEqual(['', '']);
  expect(view.complaints).toEqual([]);
});

it('a message arrives though its session is left at once, and is not in the box again', async () => {
  const server = await servePage();
  const { page, frames, complaints } = await inSession(server);
  await messageBox(page).fill('say second');

  await pressAndLeave(page, ENTER);
  await frames.nextFromServer({ command: 'prompt', success: true });
  const written = await comeBack(page);
  await main(page).getByText('second', { exact: true }).waitFor();

  expect([written, await messageBox(page).inputValue()]).toEqual(['', '']);
  expect(storedUserInputs(server.home)).toEqual(['say hello', 'say second']);
  expect(complaints).toEqual([]);
});

it('a message that is refused after its session was left is in the box of that session', async () => {
  const { page, frames } = await inSession(await servePage());
  await messageBox(page).fill('/model nobody/nothing');

  await pressAndLeave(page, ENTER);
  await frames.nextFromServer({ command: 'prompt', success: false });
  const elsewhere = await messageBox(page).inputValue();
  await comeBack(page);
  await waitForDraft(page, '/model nobody/nothing');

  expect(elsewhere).toBe('');
});

it('a message that could not be sent is in the box of its session', async () => {
  const server = await servePage();
  const { page } = await inSession(server);
  await server.kill();
  await page.getByText('Reconnecting…').waitFor();
  await submitPrompt(page, 'Still there?');

  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.waitForURL((url) => url.search === '');
  const elsewhere = await messageBox(page).inputValue();
  await page.goBack();
  await waitForDraft(page, 'Still there?');

  expect(elsewhere).toBe('');
});

it('whoever stops a run and leaves finds what waited for it in the box of that session', async () => {
  const script = [{ text: 'hello' }, { steps: [{ text: 'Endless ' }, { stall: true }] }];
  const { page, frames, complaints } = await inSession(await servePage({ script }));
  await submitPrompt(page, 'Talk');
  await main(page).getByText('Endless').waitFor();
  await messageBox(page).fill('Precious words');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('list', { name: 'Queued messages' }).getByText('Precious words').waitFor();

  await pressAndLeave(page, `document.querySelector('button.stop').click()`);
  await frames.nextFromServer({ command: 'clear_queue', success: true });
  const elsewhere = await messageBox(page).inputValue();
  await comeBack(page);
  await waitForDraft(page, 'Precious words');

  expect(elsewhere).toBe('');
  expect(complaints).toEqual([]);
});
