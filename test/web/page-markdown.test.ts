import { expect, it } from 'vitest';
import { hostileTexts } from '../support/page/hostile-session.ts';
import { showMarkdown, streamMarkdown, useMarkdownPage } from '../support/page/markdown-page.ts';

const { open } = useMarkdownPage();

/** Dangerous addresses in known disguises. */
const addresses = [
  ...[
    'javascript:hacked=1',
    'JaVaScRiPt:hacked=1',
    ' javascript:hacked=1',
    '\u0001javascript:hacked=1',
    'java\tscript:hacked=1',
  ],
  ...[
    'javascript&colon;hacked=1',
    'javascript&#58;hacked=1',
    '&#106;avascript:hacked=1',
    '&#x6A;avascript&#x3a;hacked=1',
  ],
  ...[
    '\\javascript:hacked=1',
    'javascript\\:hacked=1',
    'java&#10;script:hacked=1',
    'java&NewLine;script:hacked=1',
    '%6aavascript:hacked=1',
  ],
  ...[
    'vbscript:hacked=1',
    'data:text/html,<script>hacked=1</script>',
    'data:image/svg+xml,<svg onload=hacked=1>',
    'blob:x',
    'file:///etc/passwd',
  ],
  ...[
    '//evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    'https:evil.example',
    'http:\\\\evil.example',
    'feed:javascript:hacked=1',
  ],
  ...[
    'ｊavascript:hacked=1',
    'javascript\u200b:hacked=1',
    '\u202ejavascript:hacked=1',
    'javascript\u2028:hacked=1',
    'view-source:javascript:hacked=1',
  ],
  ...[
    'https://user:pass@evil.example/',
    'https://evil.example/"onclick="hacked=1',
    "https://evil.example/'><script>hacked=1</script>",
  ],
];

const hostile = [
  ...hostileTexts,
  ...addresses.flatMap((one) => [
    `[a](${one})`,
    `[a](<${one}>)`,
    `![a](${one})`,
    `<${one}>`,
    `[b]\n\n[b]: ${one}\n`,
    one,
  ]),
  ...['> ', '- ', '1. ', '[', '![', '*', '**a ', '_', '`', '<', '<details>\n', '<!--', '|', '&'].map((unit) =>
    unit.repeat(10_000),
  ),
  `${'['.repeat(10_000)}a${'](https://x.example/)'.repeat(10_000)}`,
  `${'*a '.repeat(10_000)}${'b* '.repeat(10_000)}`,
  `\`\`\`js\n${'/*'.repeat(10_000)}`,
  '```html\n<script>hacked=1</script><img src=x onerror=hacked=1>\n```',
  '```<script>hacked=1</script>\nx\n```',
  '<details open><summary><img src=x onerror=hacked=1></summary>\n\n<svg onload=hacked=1>\n\n</details>',
  '| <img src=x onerror=hacked=1> |\n|:-:|\n| <style>*{display:none}</style> <br onload=hacked=1> |',
  '<!-- --><script>hacked=1</script><!-- -->\n\n<!--><img src=x onerror=hacked=1>-->',
  '&lt;script&gt;hacked=1&lt;/script&gt; &#60;img src=x onerror=hacked=1&#62;',
  '# <iframe src=javascript:hacked=1>\n\n<a href=javascript:hacked=1>===\n===',
  '\u0000'.repeat(1000),
  `${'e\u0301'.repeat(5000)}${'\u0300'.repeat(5000)}`,
];

/** Finds elements, attributes and links that could act. */
const AUDIT = `(() => {
  const all = [...document.querySelector('main').querySelectorAll('*')];
  return {
    hacked: window.hacked,
    tags: [...new Set(all.map(({ localName }) => localName))].filter((name) => !/^(a|blockquote|br|button|code|del|details|div|em|figcaption|figure|h[3-6]|hr|input|li|ol|p|pre|s|span|strong|summary|table|tbody|td|th|thead|tr|ul)$/.test(name)),
    attributes: [...new Set(all.flatMap((element) => [...element.attributes].map(({ name }) => name)))].filter((name) => !/^(aria-label|checked|class|dir|disabled|href|open|rel|start|tabindex|target|title|type)$/.test(name)),
    links: [...new Set(all.filter(({ href }) => href).map(({ href }) => new URL(href).protocol))].filter((name) => !/^(https?|mailto):$/.test(name)),
    unguarded: all.filter(({ localName, rel, target, title, href }) => localName === 'a' && (rel !== 'noopener noreferrer' || target !== '_blank' || title !== href)).length,
    types: [...new Set(all.filter(({ localName }) => localName === 'input').map(({ type }) => type))].filter((type) => type !== 'checkbox'),
  };
})()`;

const harmless = { hacked: undefined, tags: [], attributes: [], links: [], unguarded: 0, types: [] };

it('no markdown runs script, loads a resource or links to another address than it shows', async () => {
  const { page, complaints } = await open();
  for (const text of hostile) {
    await showMarkdown(page, text);
    expect({ text, ...((await page.evaluate(AUDIT)) as object) }).toEqual({ text, ...harmless });
  }
  expect(complaints).toEqual([]);
});

it('no streamed markdown runs script, loads a resource or links to another address than it shows', async () => {
  const { page, complaints } = await open();
  const text = hostile.filter((one) => one.length < 1000).join('\n\n');
  await streamMarkdown(page, text, { step: 200 });
  expect(await page.evaluate(AUDIT)).toEqual(harmless);
  await showMarkdown(page, text);

  expect(await page.evaluate(AUDIT)).toEqual(harmless);
  expect(complaints).toEqual([]);
});

it('a line of one megabyte is shown', async () => {
  const { page, complaints } = await open();

  await showMarkdown(page, `${'x*'.repeat(500_000)} the end`);
  expect(await page.getByText('the end').count()).toBe(1);
  expect(complaints).toEqual([]);
});

it('a table of many columns and rows is shown and renders only the written cells', async () => {
  const { page, complaints } = await open();
  const table = (columns: number, rows: number) =>
    `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'|x\n'.repeat(rows)}\nthe end`;

  for (const text of [table(1000, 15_000), table(100, 15_000)]) {
    await showMarkdown(page, text);
    expect(await page.getByText('the end').count()).toBe(1);
  }
  expect(await page.locator('tr').count()).toBe(15_001);
  expect(await page.locator('th, td').count()).toBe(100 + 15_000);
  expect(await page.locator('table').evaluate((shown) => getComputedStyle(shown).borderCollapse)).toBe('separate');
  expect(complaints).toEqual([]);
});

/** The direction of each block, and the number of elements whose direction the browser detects. */
const DIRECTIONS = `({
  asked: document.querySelectorAll('main [dir=auto]').length,
  shown: [...document.querySelectorAll('.markdown :is(p, h3, ul, li, td, blockquote)')].map((block) => getComputedStyle(block).direction).join(' '),
})`;

it.each([
  ['# שלום\n\nEnglish\n\n- שלום', 'rtl rtl rtl rtl'],
  ['# Hello\n\nשלום\n\n- a', 'ltr ltr ltr ltr'],
  ['> **مرحبا** hello', 'rtl rtl'],
  ['|مرحبا|\n|-|\n|a|', 'rtl'],
  ['<details>\n<summary>مرحبا</summary>\n\na\n</details>', 'rtl'],
  ['1 + 1\n\n---', 'ltr'],
  ['✔️ Done', 'ltr'],
])('%j has the direction of its first letter, also while it streams', async (text, shown) => {
  const { page } = await open();
  await streamMarkdown(page, text, { step: 1, after: `(globalThis.seen ??= []).push((${DIRECTIONS}).shown)` });

  expect(await page.evaluate(DIRECTIONS)).toEqual({ asked: 0, shown });
  const other = shown.startsWith('rtl') ? 'ltr' : 'rtl';
  expect((await page.evaluate<string[]>('seen')).filter((way) => way.includes(other))).toEqual([]);
});

it('each block is aligned to the side of its own first letter', async () => {
  const { page } = await open();
  await showMarkdown(page, 'Hello.\n\nمرحبا.\n\n- שלום\n- Hello\n\n### مرحبا\n\n|a|b|\n|-|-|\n|مرحبا|a long word|');

  const sides = await page.evaluate<string[]>(`
    [...document.querySelectorAll('.markdown :is(p, li, h3, h4, h5)')].map((block) => {
      const words = document.createRange();
      words.selectNodeContents(block);
      const [inner, outer] = [words.getBoundingClientRect(), block.getBoundingClientRect()];
      return outer.right - inner.right < inner.left - outer.left ? 'right' : 'left';
    })`);

  expect(sides).toEqual(['left', 'right', 'right', 'left', 'right']);
});
