import type { Locator, Page } from 'playwright-core';

/** The list of what was said, on the page of the server. */
export const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });

/** The messages that are on the page, in sight or not. */
export const rowsDrawn = (page: Page): Promise<number> => page.getByRole('article').count();

/** How far the end of the conversation is below what is in sight, in whole pixels. */
export const fromEnd = (page: Page): Promise<number> =>
  page.evaluate(
    '(({ scrollHeight, clientHeight, scrollTop }) => Math.round(scrollHeight - clientHeight - scrollTop))(document.querySelector(".list"))',
  );

/** Settles when the end of the conversation is in sight. */
export async function atEnd(page: Page): Promise<void> {
  await page.waitForFunction(
    '(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop <= 1)(document.querySelector(".list"))',
  );
}

/** Settles when a text is in sight, not only on the page. */
export async function inSight(page: Page, text: string): Promise<void> {
  await conversation(page).getByText(text).first().waitFor();
  await page.waitForFunction(`(() => {
    const list = document.querySelector('.list').getBoundingClientRect();
    return [...document.querySelectorAll('article')].some((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return row.textContent.includes(${JSON.stringify(text)}) && bottom > list.top && top < list.bottom;
    });
  })()`);
}

/** How far below the top of the page a text stands. */
export async function placeOf(page: Page, text: string): Promise<number> {
  const { y = Number.NaN } = (await conversation(page).getByText(text).first().boundingBox()) ?? {};
  return y;
}

/** Settles when the conversation is at rest: at the same place in two frames, one after the other. */
export async function atRest(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const list = document.querySelector('.list');
    for (let last; last !== list.scrollTop; ) {
      last = list.scrollTop;
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    }
  })()`);
}
