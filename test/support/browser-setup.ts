import chromium from '@sparticuz/chromium';

/** Unpacks the browser before the tests begin: several files that did so at once would find half of it. */
export async function setup(): Promise<void> {
  await chromium.executablePath();
}
