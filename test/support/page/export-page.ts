import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { newHome } from '../agent/test-agent.ts';
import { runTau } from '../processes/program.ts';
import { header, storeSession } from '../sessions/stored-session.ts';
import type { View } from './browser.ts';

/** Exports a session of these entries and returns the path of the page. */
export async function exportPage(entries: readonly (object | string)[]): Promise<string> {
  const home = newHome();
  const session = storeSession(home, [header(home.cwd), ...entries]);
  expect(await runTau(home, ['export', session, 'page.html'])).toMatchObject({ code: 0, stderr: '' });
  return join(home.cwd, 'page.html');
}

/** Waits until the conversation is rendered and returns its page. */
export async function waitUntilReady({ page }: View): Promise<View['page']> {
  await page.waitForSelector('html[data-ready]');
  return page;
}

/** The visible text of all matching elements. */
export const visibleText = async (locator: Locator): Promise<string> => (await locator.allInnerTexts()).join('\n');
