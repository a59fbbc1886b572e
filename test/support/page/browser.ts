import { pathToFileURL } from 'node:url';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import flags from '../chromium-flags.json' with { type: 'json' };

export interface ViewOptions {
  /** The part of the address after the file, with its `#`. */
  readonly hash?: string;
  readonly width?: number;
  readonly height?: number;
  readonly javaScriptEnabled?: boolean;
  readonly colorScheme?: 'light' | 'dark';
  /** Emulates a phone with touch input. */
  readonly hasTouch?: boolean;
  /** Lets the test advance the timers of the page, from its first script on. */
  readonly hasTestClock?: boolean;
}

/** A page in a real browser. */
export interface View {
  readonly page: Page;
  /** Console messages, errors, dialogs, new windows and requests to other origins. */
  readonly complaints: readonly string[];
}

/** Opens an address in a fresh profile. */
export type Visit = (address: string, options?: ViewOptions) => Promise<View>;

interface TestBrowser {
  /** Opens a file in a fresh profile. */
  readonly open: (file: string, options?: ViewOptions) => Promise<View>;
  readonly visit: Visit;
}

interface BrowserOptions {
  /** Shows scrollbars that take space and can be dragged; off by default. */
  readonly hasScrollbars?: boolean;
}

let shared: Promise<Browser> | undefined;

/** The browser that all test files of a worker share. It ends with the worker, which holds its pipe. */
function sharedBrowser(): Promise<Browser> {
  shared ??= launch({});
  return shared;
}

async function launch({ hasScrollbars = false }: BrowserOptions): Promise<Browser> {
  const ignoreDefaultArgs = hasScrollbars ? ['--hide-scrollbars'] : [];
  return driver.launch({ executablePath: await chromium.executablePath(), args: flags, ignoreDefaultArgs });
}

/** Provides a browser for the tests of a file; its pages are closed after each test. */
export function useBrowser(options: BrowserOptions = {}): TestBrowser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await (options.hasScrollbars ? launch(options) : sharedBrowser());
  });
  afterAll(async () => {
    if (options.hasScrollbars) await browser.close();
  });
  const visit: Visit = async (address, { width = 1280, height = 800, ...more } = {}) => {
    const { javaScriptEnabled = true, colorScheme = 'light', hasTouch = false, hasTestClock = false } = more;
    const viewport = { width, height };
    const context = await browser.newContext({
      viewport,
      javaScriptEnabled,
      colorScheme,
      hasTouch,
      isMobile: hasTouch,
    });
    onTestFinished(() => context.close());
    if (hasTestClock) await context.clock.install();
    return openWatched(context, address);
  };
  return { visit, open: (file, options = {}) => visit(`${pathToFileURL(file)}${options.hash ?? ''}`, options) };
}

/** Opens an address in another tab of the same profile. */
export const openTab = ({ page }: View, address = page.url()): Promise<View> => openWatched(page.context(), address);

/** Waits until the page has this title. */
export async function waitForTitle(page: Page, title: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const look = () => document.title === ${JSON.stringify(title)} && done();
    new MutationObserver(look).observe(document.head, { subtree: true, childList: true, characterData: true });
    look();
  })`);
}

async function openWatched(context: BrowserContext, address: string): Promise<View> {
  const complaints: string[] = [];
  const { origin } = new URL(address);
  const page = await context.newPage();
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('popup', (popup) => complaints.push(`window: ${popup.url()}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const [url = ''] = request.url().split('#');
    const isOwn = url === address.split('#')[0] || (origin.startsWith('http') && url.startsWith(`${origin}/`));
    if (!isOwn && !url.startsWith('data:')) complaints.push(`request: ${url}`);
  });
  await page.goto(address);
  return { page, complaints };
}
