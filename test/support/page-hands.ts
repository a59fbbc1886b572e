import type { Locator, Page } from 'playwright-core';
import type { View, ViewOptions, Visit } from './browser.ts';
import { tau } from './command.ts';
import type { PageServer } from './page-server.ts';
import { until } from './reading.ts';

/** Where messages are written. */
export const box = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** The conversation, or what is in its place, with the composer. */
export const main = (page: Page): Locator => page.getByRole('main');

/** Waits until this is written in the box. */
export const holds = (page: Page, text: string): Promise<void> =>
  until(page, `document.querySelector('[aria-label="Message"]')?.value === ${JSON.stringify(text)}`);

/** Comes by the login link. It lets in once: whoever goes elsewhere before that may lose the way in. */
export async function enter(visit: Visit, { loginLink }: PageServer, options: ViewOptions = {}): Promise<View> {
  const view = await visit(loginLink, options);
  await box(view.page).waitFor();
  return view;
}

/** A token of this server with which so much may be done. */
export async function newToken({ home }: PageServer, scopes: string, name = 'guest'): Promise<string> {
  return (await tau(home, ['token', 'create', '--name', name, '--scope', scopes])).stdout.trim();
}

/** Gives a token to a page that asks for one. */
export async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
}

/** Comes as somebody with a token with which so much may be done. */
export async function visitAs(
  visit: Visit,
  server: PageServer,
  { scopes, address = server.address }: { readonly scopes: string; readonly address?: string },
): Promise<View> {
  const view = await visit(address);
  await logIn(view.page, await newToken(server, scopes));
  return view;
}
