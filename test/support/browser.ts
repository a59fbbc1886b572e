import { pathToFileURL } from 'node:url';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

export interface ViewOptions {
  /** The part of the address after the file, with its `#`. */
  readonly hash?: string;
  readonly width?: number;
  readonly height?: number;
  readonly javaScriptEnabled?: boolean;
}

/** A page in a real browser. */
export interface View {
  readonly page: Page;
  /** What a page should not do: errors and warnings, dialogs, new windows, requests that leave it. */
  readonly complaints: readonly string[];
}

/** A browser for the tests of a file, with a fresh profile. */
export function useBrowser(): { readonly open: (file: string, options?: ViewOptions) => Promise<View> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await driver.launch({ executablePath: await chromium.executablePath(), args: flags });
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    open: async (file, { hash = '', width = 1280, height = 800, javaScriptEnabled = true } = {}) => {
      if (!browser) throw new Error('There is no browser');
      const context = await browser.newContext({ viewport: { width, height }, javaScriptEnabled });
      onTestFinished(() => context.close());
      return watched(context, `${pathToFileURL(file)}${hash}`);
    },
  };
}

async function watched(context: BrowserContext, address: string): Promise<View> {
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('popup', (popup) => complaints.push(`window: ${popup.url()}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const [url] = request.url().split('#');
    if (url !== address.split('#')[0] && !url?.startsWith('data:')) complaints.push(`request: ${url}`);
  });
  await page.goto(address);
  return { page, complaints };
}
