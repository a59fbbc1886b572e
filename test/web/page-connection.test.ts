import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { homeWithCommands } from '../support/agent/extensions.ts';
import { type Home, newGate, newHome } from '../support/agent/test-agent.ts';
import { openTab, useBrowser, type View } from '../support/page/browser.ts';
import { visibleText } from '../support/page/export-page.ts';
import { button, main, messageBox, waitForDraft } from '../support/page/page-actions.ts';
import { type PageServer, servePage, submitPrompt, visitLockedSession } from '../support/page/page-server.ts';

const { visit } = useBrowser();

const connection = (page: Page) => page.getByRole('status', { name: 'Connection' });
const outbox = (page: Page) => page.getByRole('list', { name: 'Not sent yet' });
const retry = (page: Page) => connection(page).getByRole('button', { name: 'Retry' });

/** A page on a session whose model is in the middle of an endless tale; other prompts get a full response. */
async function visitDuringRun(home: Home = newHome()): Promise<View & { server: PageServer }> {
  const steps = [{ text: 'Once upon a time ' }, { await: join(home.root, 'never') }];
  const script = [
    { steps, when: 'tale', keep: true },
    { text: 'I am here.', when: 'there', keep: true },
  ];
  const server = await servePage({ home, script });
  const view = await visit(server.loginLink);
  const { page } = view;
  await page.clock.install();
  await submitPrompt(page, 'Are you there?');
  await main(page).getByText('I am here.').waitFor();
  await submitPrompt(page, 'Tell me a tale');
  await main(page).getByText('Once upon a time').waitFor();
  return { server, ...view };
}

/** Advances the clock past `count` retries. */
async function outlastRetries(page: Page, count = 5): Promise<void> {
  for (let attempt = 1; attempt <= count; attempt++) {
    await connection(page).getByText(`Attempt ${attempt} in`).waitFor();
    await page.clock.fastForward(15_000);
  }
}

/** Counts the occurrences of a text in the conversation. */
const countText = async (page: Page, text: string): Promise<number> =>
  (await visibleText(main(page))).split(text).length - 1;

it('[V23] after a server dies in mid-stream the page shows Reconnecting…, then restores the session', async () => {
  const { server, page } = await visitDuringRun();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  const meanwhile = await visibleText(main(page));
  await server.restart();
  // The agent may have lived long enough to store the partial message.
  const end = main(page).getByText('The run ended before an answer came.').or(main(page).getByText('Interrupted'));
  await end.waitFor();
  await page.reload();
  await end.waitFor();
  await submitPrompt(page, 'Are you there again?');
  await main(page).getByText('I am here.').nth(1).waitFor();

  expect(meanwhile).toContain('Once upon a time');
  for (const text of ['Are you there?', 'Tell me a tale', 'Are you there again?'])
    expect(await countText(page, text)).toBe(1);
});

it('[V23] messages written while disconnected are listed as unsent and sent once after reconnecting', async () => {
  const { server, page } = await visitDuringRun();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await submitPrompt(page, 'Still there?');
  await submitPrompt(page, 'And out there?');
  await outbox(page).getByText('And out there?').waitFor();
  const waiting = await outbox(page).getByRole('listitem').allInnerTexts();
  await server.restart();

  await main(page).getByText('And out there?').waitFor();
  await outbox(page).waitFor({ state: 'hidden' });
  expect(waiting.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    'Not sent yet Still there? Take back',
    'Not sent yet And out there? Take back',
  ]);
  for (const text of ['Still there?', 'And out there?']) expect(await countText(page, text)).toBe(1);
});

it('[V25] after five failed retries the page shows Connection Lost and a Retry button, and retries by itself', async () => {
  const { server, page } = await visitDuringRun();

  await server.kill();
  await outlastRetries(page);
  await connection(page).getByText('Connection Lost').waitFor();
  await retry(page).click();
  await outlastRetries(page, 8);
  await connection(page).getByText('Attempt 9 in').waitFor();
  await server.restart();
  await page.clock.fastForward(15_000);

  await connection(page).waitFor({ state: 'hidden' });
  await submitPrompt(page, 'Are you there again?');
  await main(page).getByText('I am here.').nth(1).waitFor();
});

const signs = {
  online: "dispatchEvent(new Event('online'))",
  focus: "dispatchEvent(new Event('focus'))",
  click: 'document.body.click()',
  visibilitychange: "document.dispatchEvent(new Event('visibilitychange'))",
};

it.each(Object.entries(signs))(
  '[V44] without a connection, %s makes the page retry at once',
  async (_sign, dispatch) => {
    const { server, page } = await visitDuringRun();
    await server.kill();
    await outlastRetries(page, 3);
    await connection(page).getByText('Attempt 4 in').waitFor();
    if (dispatch === signs.visibilitychange)
      await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      ${dispatch};
      delete document.visibilityState;`);

    // No timer of the page fires from now on.
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 500);
    const attempt = page.waitForEvent('websocket');
    await page.evaluate(dispatch);

    await attempt;
  },
);

it('the Try now button retries without waiting', async () => {
  const { server, page } = await visitDuringRun();

  await server.kill();
  await outlastRetries(page, 4);
  await connection(page).getByText('Attempt 5 in').waitFor();
  await page.getByRole('button', { name: 'Try now' }).click();

  await connection(page).getByText('Attempt 1 in').waitFor();
});

it('[V41] an unsent message can be withdrawn into the box and is not sent', async () => {
  const { server, page } = await visitDuringRun();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await submitPrompt(page, 'Still there?');
  await submitPrompt(page, 'And out there?');
  await outbox(page)
    .getByRole('listitem')
    .filter({ hasText: 'Still there?' })
    .getByRole('button', { name: 'Take back' })
    .click();
  await waitForDraft(page, 'Still there?');
  await outbox(page).getByText('Still there?').waitFor({ state: 'detached' });
  const focused = await page.evaluate('document.activeElement.ariaLabel');
  const waiting = await outbox(page).getByRole('listitem').count();
  const alerts = await page.getByRole('alert').count();
  await server.restart();

  await main(page).getByText('And out there?').waitFor();
  await outbox(page).waitFor({ state: 'hidden' });
  expect([focused, waiting, alerts]).toEqual(['Message', 1, 0]);
  expect(await countText(page, 'Still there?')).toBe(0);
});

it('[V42] a page whose browser goes offline probes the connection at once', async () => {
  const { page } = await visitDuringRun();

  await page.context().setOffline(true);
  await connection(page).getByText('Reconnecting…').waitFor();
  const mayStop = await button(page, 'Stop').isEnabled();
  await submitPrompt(page, 'Still there?');
  await outbox(page).getByRole('button', { name: 'Take back' }).waitFor();
  await page.context().setOffline(false);

  await connection(page).waitFor({ state: 'hidden' });
  await page.getByRole('list', { name: 'Queued messages' }).getByText('Still there?').waitFor();
  await outbox(page).waitFor({ state: 'hidden' });
  expect(mayStop).toBe(false);
});

it('without a connection, controls that need it are disabled and a single status reports the loss', async () => {
  const { server, page } = await visitDuringRun();
  await submitPrompt(page, 'And be brief');
  const [stop, edit, drop] = ['Stop', 'Edit: And be brief', 'Drop: And be brief'].map((name) => button(page, name));
  await drop?.waitFor();
  const boundingBoxes = async () =>
    JSON.stringify(await Promise.all([stop, edit, drop].map((one) => one?.boundingBox())));
  const before = await boundingBoxes();

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  const requestFailed = page.waitForEvent('requestfailed');
  await page.clock.fastForward(5000);
  await requestFailed;
  const states = await Promise.all(
    [stop, edit, drop].map(async (one) => [await one?.isDisabled(), await one?.getAttribute('title')]),
  );
  const after = await boundingBoxes();
  await messageBox(page).press('Escape');
  const alerts = await page.getByRole('alert').allInnerTexts();
  await server.restart();
  await connection(page).waitFor({ state: 'hidden' });

  expect(states).toEqual(states.map(() => [true, 'There is no connection']));
  expect(after).toBe(before);
  expect(alerts).toEqual([]);
});

it('[V23] a session locked by another program is reported in place of the conversation until it is free', async () => {
  const { page, holder, heading } = await visitLockedSession(visit, newHome());

  await main(page).getByText(`in use by process ${holder.process?.pid}`).waitFor();
  const shown = [await messageBox(page).count(), await connection(page).count(), await page.getByRole('alert').count()];
  await main(page).getByRole('button', { name: 'New session' }).click();
  await messageBox(page).waitFor();
  await page.goBack();
  await heading.waitFor();
  await holder.close();
  await main(page).getByRole('button', { name: 'Retry' }).click();

  await main(page).getByText('one', { exact: true }).waitFor();
  expect(shown).toEqual([0, 0, 0]);
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('a new session survives a server restart, even without messages', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await messageBox(page).waitFor();
  await connection(page).waitFor({ state: 'hidden' });

  await server.kill();
  await connection(page).getByText('Reconnecting…').waitFor();
  await server.restart();
  await connection(page).waitFor({ state: 'hidden' });
  await page.reload();
  await submitPrompt(page, 'say hello');
  await main(page).getByText('hello', { exact: true }).waitFor();

  expect(page.url()).toContain(`${server.address}?session=`);
});

it('when an agent dies in mid-run the page shows the reason, and the session continues', async () => {
  const { home } = homeWithCommands({ die: "process.kill(process.pid, 'SIGKILL');" });
  const { page } = await visitDuringRun(home);

  await submitPrompt(page, '/die');
  await page.getByRole('alert').getByText('Pi process terminated (SIGKILL)').waitFor();
  // The pending prompt is rejected and put back into the box.
  await page.getByRole('alert').getByText('Pi process terminated before it answered').waitFor();
  await submitPrompt(page, 'Are you there again?');

  await main(page).getByText('I am here.').nth(1).waitFor();
  expect(await countText(page, 'Tell me a tale')).toBe(1);
});

it('a missing folder in the address is reported, and another session can be started', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await messageBox(page).waitFor();

  await page.goto(`${server.address}?cwd=${encodeURIComponent(join(server.home.cwd, 'nowhere'))}`);
  await connection(page).getByText('This address makes no sense').waitFor();
  const alerts = await page.getByRole('alert').count();
  await connection(page).getByRole('button', { name: 'New session' }).click();
  await connection(page).waitFor({ state: 'hidden' });
  await submitPrompt(page, 'say hello');

  await main(page).getByText('hello', { exact: true }).waitFor();
  expect(alerts).toBe(0);
});

it('a page that cannot reach the server reports it and offers a retry', async () => {
  const server = await servePage();
  const { page } = await visit(server.loginLink);
  await messageBox(page).waitFor();
  await page.route('**/api/me', (route) => route.abort(), { times: 1 });

  await page.reload();
  await page.getByText('The server does not answer').waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();

  await messageBox(page).waitFor();
});

it('a component that fails to render is reported in its place, and the rest of the page works', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await messageBox(page).waitFor();
  await page.routeWebSocket(/./, (socket) => {
    const upstream = socket.connectToServer();
    upstream.onMessage((text) => socket.send(String(text).replace(/"cwd":"[^"]*"/, '"cwd":7')));
  });

  await page.reload();

  await page.getByRole('alert').getByText('This cannot be shown').first().waitFor();
  await page.getByRole('button', { name: 'Retry' }).first().waitFor();
  await messageBox(page).waitFor();
  await page.getByRole('button', { name: 'New session' }).waitFor();
});

it('two tabs on one session show the same conversation, whichever tab sends', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'To both ' }, { await: gate.path }, { text: 'of you.' }] }, { text: 'Again.' }];
  const one = await visit((await servePage({ script })).loginLink);
  await submitPrompt(one.page, 'Hello');
  await main(one.page).getByText('To both').waitFor();
  await one.page.waitForURL(/session=/);

  const other = await openTab(one);
  await main(other.page).getByText('To both').waitFor();
  gate.open();
  await main(other.page).getByText('To both of you.').waitFor();
  await submitPrompt(other.page, 'Once more');
  for (const { page } of [one, other]) await main(page).getByText('Again.').waitFor();

  expect(await countText(one.page, 'Once more')).toBe(1);
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});
