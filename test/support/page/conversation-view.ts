import type { Locator, Page } from 'playwright-core';

/** Settles when an expression is true on the page; checks it in every frame. */
export async function waitForCondition(page: Page, condition: string): Promise<void> {
  await page.evaluate(`(async () => { while (!(${condition})) await new Promise(requestAnimationFrame); })()`);
}

export const conversationRegion = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });

/** Number of rendered messages, visible or not. */
export const countRenderedMessages = (page: Page): Promise<number> => page.getByRole('article').count();

const FROM_END = `(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(
  document.querySelector('.list'))`;

/** Pixels between the visible part of the conversation and its end. */
export const distanceFromEnd = (page: Page): Promise<number> => page.evaluate(FROM_END);

/** Settles when the end of the conversation is visible. */
export const waitUntilAtEnd = (page: Page): Promise<void> => waitForCondition(page, `${FROM_END} <= 1`);

/** Settles when a message with this text is inside the viewport of the list. */
export async function waitUntilVisible(page: Page, text: string): Promise<void> {
  await conversationRegion(page).getByText(text).first().waitFor();
  await waitForCondition(
    page,
    `[...document.querySelectorAll('.list article')].some((row) => {
      const list = row.closest('.list').getBoundingClientRect();
      const { top, bottom } = row.getBoundingClientRect();
      return row.textContent.includes(${JSON.stringify(text)}) && bottom > list.top && top < list.bottom;
    })`,
  );
}

/** Distance of a text from the top of the page, in pixels. */
export async function topOfText(page: Page, text: string): Promise<number> {
  const { y = Number.NaN } = (await conversationRegion(page).getByText(text).first().boundingBox()) ?? {};
  return y;
}

/** Settles when the scroll position stays the same for two frames. */
export async function waitUntilScrollStops(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const list = document.querySelector('.list');
    for (let last; last !== list.scrollTop; ) {
      last = list.scrollTop;
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    }
  })()`);
}
