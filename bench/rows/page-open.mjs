import { SHOWN, withLongPage } from '../support/long-page.mjs';

/** A session of 10,000 messages, opened in a browser. */
export const pageOpen = {
  name: 'page-open',
  rounds: 9,

  samplers(workspace) {
    return {
      cold: () => withLongPage(workspace, cold),
      loaded: () => withLongPage(workspace, loaded),
    };
  },

  rows({ cold, loaded }) {
    const limit = { value: 300 };
    return [
      { what: 'its address, in a browser that has nothing of the page', unit: 'ms', value: cold.ms, limit },
      { what: 'its name in the list, in a page that is loaded', unit: 'ms', value: loaded.ms, limit },
      { what: 'rows on the page then', unit: '', value: cold.rows },
    ];
  },
};

async function cold(page, { home, query }) {
  await page.goto(home + query, { waitUntil: 'commit' });
  const ms = await page.evaluate(SHOWN);
  return { ms, rows: await page.locator('.list article').count() };
}

async function loaded(page, { home, query }) {
  await page.goto(home);
  const name = page.locator(`a[href="${query}"]`).first();
  await name.waitFor();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  const ms = await page.evaluate(`(async () => {
    const from = performance.now();
    document.querySelector('a[href="${query}"]').click();
    return (await ${SHOWN}) - from;
  })()`);
  return { ms };
}
