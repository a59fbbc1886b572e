import { expect, it } from 'vitest';
import { useBrowser, type View } from '../support/browser.ts';
import { words } from '../support/exported.ts';
import { commandHome } from '../support/extensions.ts';
import { hostileEntries, hostileTexts } from '../support/hostile-session.ts';
import { newHome } from '../support/open.ts';
import { say, servePage } from '../support/page-server.ts';
import { atRest, conversation } from '../support/reading.ts';
import { entry, header, keepSession } from '../support/stored-session.ts';

const { visit } = useBrowser();

/** Everything in the body that could act, beside the box that messages are written in. */
const AUDIT = `(() => {
  // The signs on buttons and the ring of the meter are the page's own: lines, and nothing else.
  const isOwn = (svg) => svg.matches('.icon, .ring') && [...svg.querySelectorAll('*')].every(isLine);
  const isLine = (part) => /^(path|circle)$/.test(part.localName) && part.getAttributeNames().every((name) => LINE.has(name));
  const LINE = new Set(['class', 'd', 'cx', 'cy', 'r', 'pathLength', 'style', 'stroke-dasharray', 'transform']);
  const drawings = [...document.querySelectorAll('svg')].filter(isOwn);
  const all = [...document.body.querySelectorAll(':not(.composer)')].filter((element) => !drawings.some((svg) => svg.contains(element)));
  const names = (element) => [...element.attributes].map(({ name }) => name);
  return {
    hacked: window.hacked,
    acting: all.map(({ localName }) => localName).filter((name) => /^(script|iframe|object|embed|svg|math|link|base|frame|video|audio|style|meta)$/.test(name)),
    handlers: all.flatMap(names).filter((name) => /^on/.test(name)),
    links: all.filter(({ href }) => href && !/^https?:/.test(new URL(href).protocol)).length,
    forms: all.filter(({ action }) => action && new URL(action).origin !== location.origin).length,
    pictures: document.images.length,
    foreign: all.filter(({ namespaceURI }) => namespaceURI !== 'http://www.w3.org/1999/xhtml').length,
  };
})()`;

const harmless = {
  hacked: undefined,
  acting: [],
  handlers: [],
  links: 0,
  forms: 0,
  pictures: 0,
  foreign: 0,
};

/** Without what would hide everything before it. */
function wholeBranch(): object[] {
  const entries = hostileEntries() as { type: string; id: string }[];
  const shown = entries.filter(({ type }) => type !== 'compaction');
  return shown.map((one, at) => ({ ...one, parentId: shown[at - 1]?.id ?? 'name' }));
}

async function expectHarmless({ page, complaints }: View): Promise<void> {
  expect(await page.evaluate(AUDIT)).toEqual(harmless);
  expect(complaints).toEqual([]);
}

it('nothing that stands in any message of a session runs, loads or leaves', async () => {
  const home = newHome();
  const named = entry('session_info', 'name', null, { name: '<img src=x onerror=hacked=1>' });
  keepSession(home, [header(home.cwd), named, ...wholeBranch()]);
  const view = await visit((await servePage({ home })).loginLink);
  const { page } = view;

  await page.getByRole('region', { name: 'Today' }).getByRole('link').click();
  await page.getByRole('article').first().waitFor();
  const text = await readUp(view);

  const missing = ['<script>', '<img src=x onerror=', ']]>'].filter((hostile) => !text.includes(hostile));
  expect(missing).toEqual([]);
});

/** Reads the conversation from its end to its beginning, and looks at each part of it; answers its words. */
async function readUp(view: View): Promise<string> {
  const { page } = view;
  const [first = ''] = hostileTexts;
  let text = '';
  // Earlier messages come when somebody has read so far.
  for (let top = Infinity; top > 0 || !text.includes(first); ) {
    await atRest(page);
    text += await words(conversation(page));
    await expectHarmless(view);
    top = await conversation(page).evaluate((list) => {
      const { scrollTop } = list;
      list.scrollTop -= 2 * list.clientHeight;
      return scrollTop;
    });
  }
  return text;
}

it('nothing that a model says, or an extension asks, runs, loads or leaves', async () => {
  const evil = JSON.stringify(hostileTexts.map((text) => text.slice(0, 200)));
  const { home } = commandHome({
    evil: `
      for (const text of ${evil}) {
        ctx.ui.notify(text, 'error');
        ctx.ui.setStatus(text, text);
        ctx.ui.setWidget(text, [text, text]);
        void ctx.ui.select(text, [text, text]);
        void ctx.ui.confirm(text, text);
        void ctx.ui.input(text, text);
        void ctx.ui.editor(text, text);
      }
      ctx.ui.setTitle('<script>hacked=1</script>');`,
  });
  const script = [{ steps: [{ text: hostileTexts.join('\n\n'), chunks: 50 }] }];
  const view = await visit((await servePage({ home, script })).loginLink);
  const { page } = view;
  await say(page, hostileTexts.slice(0, 30).join('\n\n'));
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await say(page, '/evil');
  await page.locator('.dialog').nth(20).waitFor();

  expect(await words(page.locator('.dialogs'))).toContain('<img src=x onerror="hacked=1">');
  await expectHarmless(view);
});
