import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, newHome } from '../support/agent/test-agent.ts';
import { useBrowser } from '../support/page/browser.ts';
import { messageBox, visitByLoginLink } from '../support/page/page-actions.ts';
import { servePage } from '../support/page/page-server.ts';
import { storeShortSession } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

const index = readFileSync(join(import.meta.dirname, '../../dist/page/index.html'), 'utf8');

/** A stored session, and a page whose lazily loaded scripts are held until `release()`. */
async function visitWithHeldParts() {
  const home = newHome();
  storeShortSession(home, 'a', 'Session A');
  const gate = newGate();
  const server = await servePage({ home, script: [{ steps: [{ text: 'Hello.' }, { await: gate.path }] }] });
  const { page, complaints } = await visitByLoginLink(visit, server);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held: string[] = [];
  await page.route('**/*.js', async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (!index.includes(`"${name}"`)) {
      held.push(name);
      await released;
    }
    await route.continue();
  });
  await page.goto(`${server.address}?session=a`);
  return { page, complaints, held, release, gate };
}

it('[V43] the composer accepts and sends text before the conversation can be drawn', async () => {
  const { page, complaints, held, release, gate } = await visitWithHeldParts();

  await messageBox(page).fill('say hello');
  const isSkeletonShown = await page.getByRole('status', { name: 'Loading the conversation' }).isVisible();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  gate.open();
  release();
  await page.locator('main').getByText('Well.').waitFor();
  await page.locator('main').getByText('say hello').first().waitFor();

  expect(isSkeletonShown).toBe(true);
  expect(held.some((name) => name.startsWith('session-parts-'))).toBe(true);
  expect(complaints).toEqual([]);
});

it('[V43] a part that could not be loaded is reported: the page can be loaded again, with the text in the composer', async () => {
  const home = newHome();
  storeShortSession(home, 'a', 'Session A');
  const server = await servePage({ home });
  const { page } = await visitByLoginLink(visit, server);
  await page.route('**/session-parts-*.js', (route) => route.abort());
  await page.goto(`${server.address}?session=a`);

  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  await alert.waitFor();
  await page.unroute('**/session-parts-*.js');
  await messageBox(page).fill('kept');
  await alert.getByRole('button', { name: 'Load the page again' }).click();
  await page.locator('main').getByText('Well.').waitFor();

  expect(await messageBox(page).inputValue()).toBe('kept');
});
