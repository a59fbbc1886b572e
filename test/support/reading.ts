import type { Locator, Page } from 'playwright-core';

/** Settles when something is true on the page; it is looked at in every frame. */
export async function until(page: Page, condition: string): Promise<void> {
  await page.evaluate(`(async () => { while (!(${condition})) await new Promise(requestAnimationFrame); })()`);
}

/** The list of what was said, on the page of the server. */
export const conversation = (page: Page): Locator => page.getByRole('region', { name: 'Conversation' });

/** The messages that are on the page, in sight or not. */
export const rowsDrawn = (page: Page): Promise<number> => page.getByRole('article').count();

const FROM_END = `(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(
  document.querySelector('.list'))`;

/** How far the end of the conversation is below what is in sight, in pixels. */
export const fromEnd = (page: Page): Promise<number> => page.evaluate(FROM_END);

/** Settles when the end of the conversation is in sight. */
export const atEnd = (page: Page): Promise<void> => until(page, `${FROM_END} <= 1`);

/** Settles when a text is in sight, not only on the page. */
export async function inSight(page: Page, text: string): Promise<void> {
  await conversation(page).getByText(text).first().waitFor();
  await until(
    page,
    `[...document.querySelectorAll('.list article')].some((row) => {
      const list = row.closest('.list').getBoundingClientRect();
      const { top, bottom } = row.getBoundingClientRect();
      return row.textContent.includes(${JSON.stringify(text)}) && bottom > list.top && top < list.bottom;
    })`,
  );
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
