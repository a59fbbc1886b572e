import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { audit, harmless } from '../support/page/audit.ts';
import { useBrowser } from '../support/page/browser.ts';
import { exportPage, visibleText, waitUntilReady } from '../support/page/export-page.ts';
import { hostileEntries } from '../support/page/hostile-session.ts';
import { assistantMessage, entry, userEntry } from '../support/sessions/stored-session.ts';

const { open } = useBrowser();

/** Elements of the page itself. */
const OWN = 'head > :is(meta, style)';

it('[S42] no field of any entry runs script, loads a resource or sends data', async () => {
  const entries = hostileEntries();
  const file = await exportPage(entries);
  const view = await open(file);
  const page = await waitUntilReady(view);

  await page.getByRole('button', { name: 'Unfold all' }).click();
  await page.getByLabel('What the outline shows').selectOption('all');
  await page.getByLabel('Search the session').fill('hacked');
  await page.keyboard.press('Enter');

  expect(await audit(page, OWN)).toEqual({ ...harmless, links: ['file:', 'https:'], pictures: [] });
  expect(view.complaints).toEqual([]);
  const text = await visibleText(page.locator('main'));
  for (const hostile of ['<script>', '<img src=x onerror=', '</script>', ']]>']) expect(text).toContain(hostile);
  expect(readFileSync(file, 'utf8').match(/<script/g)).toHaveLength(2);
  expect(entries.length).toBeGreaterThan(1000);
});

it('[S42] only safe image types are shown as pictures, and only safe addresses as links', async () => {
  const image = (mimeType: string, data = 'aGk=') => ({ type: 'image', mimeType, data });
  const images = [
    image('image/svg+xml', 'PHN2ZyBvbmxvYWQ9ImhhY2tlZD0xIi8+'),
    image('text/html'),
    image('image/png" onerror="hacked=1'),
    image('image/png,<svg onload=hacked=1>'),
    image('image/png;charset=x'),
    image('image/png', '"><script>hacked=1</script>'),
    image('image/gif', 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  ];
  const links = [
    '[a](javascript:hacked=1)',
    '[b](JaVaScRiPt:hacked=1)',
    '[c](\tjavascript:hacked=1)',
    '[d](data:text/html,<script>hacked=1</script>)',
    '[e](vbscript:hacked)',
    '[f](//evil.example/x)',
    '[g](file:///etc/passwd)',
    '[h](blob:https://evil.example/x)',
    '<javascript:hacked=1>',
    '![i](https://evil.example/pixel.png)',
    '[j](https://good.example/ "title" onclick=hacked=1)',
    '[k](https://good.example/"onmouseover="hacked=1)',
    '[l](mailto:ada@good.example)',
    '[m][n]\n\n[n]: javascript:hacked=1',
  ];
  const view = await open(
    await exportPage([
      entry('message', 'a', null, { message: { role: 'user', content: images, timestamp: 1 } }),
      entry('message', 'b', 'a', {
        message: assistantMessage({ content: links.map((text) => ({ type: 'text', text })) }),
      }),
      userEntry('c', 'b', links.join('\n')),
    ]),
  );
  const page = await waitUntilReady(view);

  const found = await audit(page, OWN);

  expect(found).toEqual({ ...harmless, links: ['file:', 'https:', 'mailto:'], pictures: ['data:image/gif;base64'] });
  const targets = await page.evaluate(
    `[...document.querySelectorAll('.markdown a')].map(({ href, rel }) => href + ' ' + rel)`,
  );
  expect(new Set(targets as string[])).toEqual(
    new Set([
      'https://evil.example/pixel.png noopener noreferrer',
      'https://good.example/ noopener noreferrer',
      'https://good.example/%22onmouseover=%22hacked=1 noopener noreferrer',
      'mailto:ada@good.example noopener noreferrer',
    ]),
  );
  expect(view.complaints).toEqual([]);
});

it('[S42] malformed, unknown, very long and deeply nested lines do not prevent the others from being shown', async () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const custom = (id: string, parent: string, data: string) =>
    `{"type":"custom_message","customType":"x","content":${data},"display":true,"id":"${id}","parentId":"${parent}","timestamp":"never"}`;
  const file = await exportPage([
    userEntry('first', null, 'Good morning'),
    '{"type":"message","id":"torn","parentId":"first","message":{"role":"us',
    'null',
    '[]',
    '{"type":"message","id":"lost","parentId":"first","timestamp":"x","message":null}',
    custom('deep', 'first', deep),
    custom('number', 'deep', '7'),
    '{"type":"message","id":"odd","parentId":"number","timestamp":5,"message":{"role":"assistant","content":{"a":1},"usage":"x","model":[]}}',
    '{"type":"unheard_of","id":"new","parentId":"odd","timestamp":"","payload":{"a":"<b>"}}',
    userEntry('circle', 'last', 'y'.repeat(1_000_000)),
    userEntry('last', 'circle', 'Good night'),
  ]);
  const view = await open(file);
  const page = await waitUntilReady(view);

  await page.getByRole('button', { name: 'Unfold all' }).click();

  expect(await visibleText(page.locator('main'))).toContain('Good night');
  await page.getByRole('navigation', { name: 'Outline' }).getByText('Good morning').click();
  await page.locator('.target').getByText('Good morning').waitFor();
  expect(view.complaints).toEqual([]);
});

it('[S42] the content security policy allows the script and style of the page, inline pictures, and nothing else', async () => {
  const text = readFileSync(await exportPage([userEntry('a', null, 'hello')]), 'utf8');

  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text) ?? [];

  expect(policy.replaceAll(/sha256-[\w+/]{43}=/g, 'HASH').split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'HASH'",
    "style-src 'HASH'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  expect(text.length).toBeLessThan(100_000);
});
