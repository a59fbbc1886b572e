import { expect, it } from 'vitest';
import { homeWithCommands } from '../support/agent/extensions.ts';
import { newHome } from '../support/agent/test-agent.ts';
import { audit, harmless } from '../support/page/audit.ts';
import { useBrowser, type View } from '../support/page/browser.ts';
import { conversationRegion, waitUntilScrollStops } from '../support/page/conversation-view.ts';
import { visibleText } from '../support/page/export-page.ts';
import { hostileEntries, hostileTexts } from '../support/page/hostile-session.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { interceptingAgentArgs } from '../support/server/intercepting-agent.ts';
import { entry, header, storeSession, userEntry } from '../support/sessions/stored-session.ts';

const { visit } = useBrowser();

/** Elements of the page itself, and forms without an action. */
const OWN = 'head *, form:not([action])';

/**
 * The hostile entries in one branch, without compactions, which would hide the entries before them. A prompt between the
 * tool calls keeps them from folding.
 */
function wholeBranch(): object[] {
  const entries = hostileEntries() as { type: string; id: string; message?: { toolName?: string } }[];
  const shown = entries
    .filter(({ type }) => type !== 'compaction')
    .flatMap((one) =>
      one.message?.toolName === 'edit' ? [one, userEntry(`${one.id} prompt`, null, 'Continue')] : [one],
    );
  return shown.map((one, at) => ({ ...one, parentId: shown[at - 1]?.id ?? 'name' }));
}

async function expectHarmless({ page, complaints }: View): Promise<void> {
  const { links, ...rest } = await audit(page, OWN);
  expect(rest).toEqual({ ...harmless, pictures: [] });
  expect(links.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([]);
  expect(complaints).toEqual([]);
}

// The session has thousands of hostile texts, and every one is drawn.
const HOSTILE_SESSION_MS = 120_000;

it(
  'no message of a session runs script, loads a resource or sends data',
  async () => {
    const home = newHome();
    const named = entry('session_info', 'name', null, { name: '<img src=x onerror=hacked=1>' });
    storeSession(home, [header(home.cwd), named, ...wholeBranch()]);
    // A high window shows many messages at once.
    const view = await visit((await servePage({ home })).loginLink, { height: 6000 });
    const { page } = view;

    await page.getByRole('region', { name: 'Today' }).getByRole('link').click();
    await page.getByRole('article').first().waitFor();
    const text = await auditUpwards(view);

    expect(await page.locator('.run-fold').count()).toBe(0);
    const missing = ['<script>', '<img src=x onerror=', ']]>'].filter((hostile) => !text.includes(hostile));
    expect(missing).toEqual([]);
  },
  HOSTILE_SESSION_MS,
);

it('trusted types policies and HTML insertion are blocked', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();

  const attempts = [
    "trustedTypes.createPolicy('own', { createHTML: (text) => text })",
    "trustedTypes.createPolicy('default', { createHTML: (text) => text })",
    "document.body.insertAdjacentHTML('beforeend', '<hr id=made>')",
  ];
  for (const attempt of attempts) await expect(page.evaluate(attempt)).rejects.toThrow(/TypeError/);
  expect(await page.locator('#made').count()).toBe(0);
});

/** Scrolls from the end to the start of the conversation, audits each view and returns the text. */
async function auditUpwards(view: View): Promise<string> {
  const { page } = view;
  const [first = ''] = hostileTexts;
  let text = '';
  // Earlier messages are loaded on scrolling up.
  for (let top = Infinity; top > 0 || !text.includes(first); ) {
    await waitUntilScrollStops(page);
    text += await visibleText(conversationRegion(page));
    await expectHarmless(view);
    top = await conversationRegion(page).evaluate((list) => {
      const { scrollTop } = list;
      list.scrollTop -= 2 * list.clientHeight;
      return scrollTop;
    });
  }
  return text;
}

it('no text of a model or an extension runs script, loads a resource or sends data', async () => {
  const evil = JSON.stringify(hostileTexts.map((text) => text.slice(0, 200)));
  const { home } = homeWithCommands({
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
  await submitPrompt(page, hostileTexts.slice(0, 30).join('\n\n'));
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await submitPrompt(page, '/evil');
  await page.locator('.dialog').nth(20).waitFor();

  expect(await visibleText(page.locator('.dialogs'))).toContain('<img src=x onerror="hacked=1">');
  await expectHarmless(view);
});

it('malformed state of an agent breaks only the part that shows it, until the next snapshot', async () => {
  const home = newHome();
  const intercept = "if (request.message === 'odd') say({ type: 'state_changed', state: { cwd: 5 } });";
  const { page } = await visit((await servePage({ home, args: interceptingAgentArgs(home, intercept) })).loginLink);
  await submitPrompt(page, 'say hello');
  await page.getByRole('article').nth(1).waitFor();
  await submitPrompt(page, 'odd');
  const failure = page.getByRole('alert').filter({ hasText: 'This cannot be shown' });
  await failure.waitFor();
  expect(await page.getByRole('banner').count()).toBe(0);

  await submitPrompt(page, '!echo there');
  await conversationRegion(page).getByText('there', { exact: true }).waitFor();
  await page.getByRole('banner').waitFor();
  expect(await failure.count()).toBe(0);
});
