import chromium from '@sparticuz/chromium';

/** Unpacks the browser before the tests start: parallel test files would find it half unpacked. */
export async function setup(): Promise<void> {
  await chromium.executablePath();
}
