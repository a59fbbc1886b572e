import { source as axeSource } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { showMarkdown, streamMarkdown, useMarkdownPage } from '../support/page/markdown-page.ts';

const { open } = useMarkdownPage();

const SAMPLE = `## Title with *words*

A paragraph with **bold**, \`code\`, [a link](https://x.example/) and [another][there].

1. One

   \`\`\`ts
   const one: number = 1; // a comment
   \`\`\`
2. Two
   - inner
   - [x] done

> A quote
> - with a list

| Name | Size |
|:-----|-----:|
| a | 1 |
| \`b\`<br>c | 2 |

\`\`\`python
def work(size: int) -> str:
    return f"{size}"  # text
\`\`\`

\`\`\`diff
-old
+new
\`\`\`

\`\`\`html
<p class="a">&amp;</p>
\`\`\`

<details>
<summary>More</summary>

Inside

</details>

<!-- a comment -->

[there]: https://y.example/

The end.
`;

const html = (page: Page) => page.locator('main').innerHTML();

it('streamed text renders the same elements as the whole text at once', async () => {
  const { page, complaints } = await open();
  await streamMarkdown(page, SAMPLE);
  await showMarkdown(page, SAMPLE);
  await page.locator('.code-comment').nth(1).waitFor();
  const streamed = await html(page);

  const other = await open();
  await showMarkdown(other.page, SAMPLE);
  await other.page.locator('.code-comment').nth(1).waitFor();
  expect(streamed).toBe(await html(other.page));
  expect([...complaints, ...other.complaints]).toEqual([]);
});

it('complete blocks keep their elements while more text arrives', async () => {
  const { page } = await open();
  await page.evaluate('globalThis.kept = []; globalThis.lost = [];');
  await streamMarkdown(page, SAMPLE, {
    after: `const blocks = [...document.querySelector('.markdown').children];
     for (const [at, block] of blocks.slice(0, -1).entries()) {
       kept[at] ??= block;
       if (kept[at] !== block) lost.push(block.localName);
     }`,
  });

  expect(await page.evaluate('kept.length')).toBeGreaterThan(8);
  expect(await page.evaluate('lost')).toEqual([]);
});

it('complete blocks are not drawn again while more text arrives', async () => {
  const { page } = await open();
  const whole = SAMPLE.slice(0, SAMPLE.indexOf('The end.'));
  await streamMarkdown(page, whole, { from: whole.length });
  await page.locator('.code-comment').nth(1).waitFor();
  await page.evaluate(`
    globalThis.changed = [];
    const blocks = [...document.querySelector('.markdown').children];
    new MutationObserver((all) => changed.push(...all.map(({ target }) => target).filter((node) => blocks.some((block) => block.contains(node)))))
      .observe(document.querySelector('.markdown'), { subtree: true, childList: true, characterData: true, attributes: true });`);

  const more = `${whole}More and **more** of it, with a [link](https://x.example/) at the end`;
  await streamMarkdown(page, more, { from: whole.length });
  expect(await page.locator('.markdown > p').last().textContent()).toBe('More and more of it, with a link at the end');
  expect(await page.evaluate('changed.length')).toBe(0);
});

it('a link gets an address that is defined after it was drawn', async () => {
  const { page } = await open();
  const text = '[a]: https://a.example/\n\nSee [b].\n\n';
  await streamMarkdown(page, text, { from: text.length });
  expect(await page.locator('.markdown > p').textContent()).toBe('See [b].');

  const more = `${text}[b]: https://b.example/\n\n`;
  await streamMarkdown(page, more, { from: more.length });
  await page.locator('.markdown > p > a[href="https://b.example/"]').waitFor();
});

it('the layout does not shift while text streams', async () => {
  const { page } = await open({ height: 3000 });
  await page.evaluate(`
    globalThis.shift = 0;
    new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shift += value; }).observe({ type: 'layout-shift' });`);
  await streamMarkdown(page, SAMPLE);
  await page.locator('.code-comment').nth(1).waitFor();

  expect(await page.evaluate('shift')).toBeLessThan(0.01);
});

it('colours are loaded with the first code and do not move the layout', async () => {
  const { page, complaints } = await open();
  const requests: string[] = [];
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/grammars/, async (route) => {
    requests.push(route.request().url());
    await gate;
    await route.continue();
  });
  await showMarkdown(page, 'No `code` yet');
  expect(requests).toEqual([]);

  const request = page.waitForRequest(/grammars/);
  await showMarkdown(page, SAMPLE);
  await request;
  const boundingBoxes = () =>
    page.evaluate(`[...document.querySelectorAll('main *:not([class^=code-])')].map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join(' ');
    })`);
  const before = await boundingBoxes();
  expect(await page.locator('[class^=code-]').count()).toBe(0);

  release();
  await page.locator('.code-keyword').first().waitFor();
  expect(await boundingBoxes()).toEqual(before);
  expect(requests.length).toBe(1);
  expect(complaints).toEqual([]);
});

it('code can be copied, also where the clipboard API is denied', async () => {
  const { page } = await open();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate('navigator.clipboard.readText()');
  await showMarkdown(page, '```sh\nnpm start\n```');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await copied()).toBe('npm start');

  await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))`);
  await showMarkdown(page, '```sh\nnpm test\n```');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await copied()).toBe('npm test');
});

it.each(['light', 'dark'] as const)('markdown is accessible in %s', async (colorScheme) => {
  const { page } = await open({ colorScheme, width: 390 });
  await showMarkdown(page, `${SAMPLE}\n\n- [ ] open\n\n\`\`\`\n${'wide '.repeat(99)}\n\`\`\`\n`);
  await page.locator('.code-comment').nth(1).waitFor();
  await page.evaluate(axeSource);

  const { violations } = (await page.evaluate(`axe.run('main')`)) as { violations: { id: string; nodes: object[] }[] };
  expect(violations.map(({ id, nodes }) => [id, JSON.stringify(nodes).slice(0, 500)])).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
