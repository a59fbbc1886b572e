import type { Locator, Page } from 'playwright-core';
import { runTau } from '../processes/program.ts';
import type { View, ViewOptions, Visit } from './browser.ts';
import { waitForCondition } from './conversation-view.ts';
import type { PageServer } from './page-server.ts';

/** The text box of the composer. */
export const messageBox = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** The main region: the conversation or its replacement, with the composer. */
export const main = (page: Page): Locator => page.getByRole('main');

/** Waits until the composer holds this text. */
export const waitForDraft = (page: Page, text: string): Promise<void> =>
  waitForCondition(page, `document.querySelector('[aria-label="Message"]')?.value === ${JSON.stringify(text)}`);

/** Opens the login link and waits for the composer: the link works once, so navigating earlier could lose it. */
export async function visitByLoginLink(
  visit: Visit,
  { loginLink }: PageServer,
  options: ViewOptions = {},
): Promise<View> {
  const view = await visit(loginLink, options);
  await messageBox(view.page).waitFor();
  return view;
}

/** Creates a token of this server with these scopes. */
export async function createToken({ home }: PageServer, scopes: string, more: readonly string[] = []): Promise<string> {
  return (await runTau(home, ['token', 'create', '--name', 'guest', '--scope', scopes, ...more])).stdout.trim();
}

/** Submits a token in the login form. */
export async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
}

interface TokenOptions {
  readonly scopes: string;
  readonly limit?: string;
  readonly address?: string;
}

/** Opens the page and logs in with a new token of these scopes. */
export async function visitWithScopes(
  visit: Visit,
  server: PageServer,
  { scopes, limit, address = server.address }: TokenOptions,
): Promise<View> {
  const view = await visit(address);
  await logIn(view.page, await createToken(server, scopes, limit === undefined ? [] : ['--limit', limit]));
  return view;
}
