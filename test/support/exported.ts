import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import type { View } from './browser.ts';
import { tau } from './command.ts';
import { newHome } from './open.ts';
import { header, keepSession } from './stored-session.ts';

/** Writes a session of these entries as a page and answers where. */
export async function exported(entries: readonly (object | string)[]): Promise<string> {
  const home = newHome();
  const session = keepSession(home, [header(home.cwd), ...entries]);
  expect(await tau(home, ['export', session, 'page.html'])).toMatchObject({ code: 0, stderr: '' });
  return join(home.cwd, 'page.html');
}

/** Waits until the conversation is there, and answers its page. */
export async function ready({ page }: View): Promise<View['page']> {
  await page.waitForSelector('html[data-ready]');
  return page;
}

/** The text that can be seen there. */
export const words = async (place: Locator): Promise<string> => (await place.allInnerTexts()).join('\n');
