import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { homeWithCommands, writeTextFile } from '../support/agent/extensions.ts';
import { newHome } from '../support/agent/test-agent.ts';
import { useBrowser } from '../support/page/browser.ts';
import { button, messageBox, waitForDraft } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name });
const list = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' });

/** The active suggestion of the box. */
const chosen = async (page: Page) => {
  const id = (await messageBox(page).getAttribute('aria-activedescendant')) ?? '';
  return page.locator(`[id="${id}"][aria-selected="true"]`).textContent();
};

/** A home with some project files. */
function project() {
  const home = newHome();
  mkdirSync(join(home.cwd, '.git'));
  for (const name of ['src/main.ts', 'src/my notes.md', 'src/deep/well.ts', 'out/main.js', 'README.md'])
    writeTextFile(join(home.cwd, name), name);
  writeTextFile(join(home.cwd, '.gitignore'), 'out/\n');
  return home;
}

describe('a slash at the beginning', () => {
  it('suggests commands with their parameters, which keys select and complete', async () => {
    const { home } = homeWithCommands({ deploy: '' });
    const view = await visit((await servePage({ home })).loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await messageBox(page).fill('/');
    await option(page, '/deploy').waitFor();
    await option(page, '/name [name] Show the name of the session').waitFor();

    await page.keyboard.type('ne');
    const first = await chosen(page);
    await page.keyboard.press('ArrowDown');
    const second = await chosen(page);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Escape');
    await list(page).waitFor({ state: 'detached' });
    await messageBox(page).fill('/');
    await page.keyboard.type('nam');
    await option(page, '/name').waitFor();
    await page.keyboard.press('Tab');
    await page.getByText('/name [name]').waitFor();
    const completed = await messageBox(page).inputValue();
    await page.keyboard.type('Blue');
    await page.keyboard.press('Enter');
    await page.getByText('The session is called Blue').waitFor();

    expect([first, second]).toEqual([expect.stringMatching('^/new'), expect.stringMatching('^/name')]);
    expect(completed).toBe('/name ');
    expect((await frames.nextFromPage({ type: 'prompt' }))['message']).toBe('/name Blue');
    expect(view.complaints).toEqual([]);
  });

  it('does not block a fully typed command', async () => {
    const { page } = await visit((await servePage()).loginLink);
    await messageBox(page).fill('/session');
    await option(page, '/session').waitFor();

    await page.keyboard.press('Enter');

    await page.getByText('Messages: 0 of the user').waitFor();
  });

  it('shows that an unknown command is sent as a message', async () => {
    const { page } = await visit((await servePage()).loginLink);
    const frames = await watchFrames(page);
    const hint = page.getByText('No command, sent as a message:');
    await messageBox(page).fill('/nam');
    await option(page, '/name').waitFor();

    const early = await hint.count();
    await page.keyboard.press('Escape');
    await page.getByText('No command, sent as a message: /nam').waitFor();
    await messageBox(page).fill('/name it');
    await page.getByText('/name [name]').waitFor();
    const known = await hint.count();
    await messageBox(page).fill('');
    await page.keyboard.insertText('/usr/bin is full');
    await page.getByText('No command, sent as a message: /usr/bin').waitFor();
    await page.keyboard.press('Enter');

    expect((await frames.nextFromPage({ type: 'prompt' }))['message']).toBe('/usr/bin is full');
    expect([early, known]).toEqual([0, 0]);
  });

  it('can be completed by touch and keeps the focus in the box', async () => {
    const { page } = await visit((await servePage()).loginLink, { width: 390, height: 844, hasTouch: true });
    await messageBox(page).tap();
    await page.keyboard.type('/mod');

    await option(page, '/model').tap();
    await page.keyboard.type('x');

    expect(await messageBox(page).inputValue()).toBe('/model x');
    const [above, below] = [await messageBox(page).boundingBox(), await page.evaluate('innerHeight')];
    expect(above?.y).toBeLessThan(Number(below));
  });
});

describe('a command that the page handles itself', () => {
  it('opens the model picker or downloads the export, and empties the box', async () => {
    const view = await visit((await servePage()).loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await submitPrompt(page, 'say hello');
    await page.waitForURL(/session=/);
    await frames.nextFromPage({ type: 'prompt' });

    await messageBox(page).fill('/mod');
    await option(page, '/model').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Model' }).waitFor();
    const left = await messageBox(page).inputValue();
    await page.keyboard.press('Escape');
    await messageBox(page).and(page.locator(':focus')).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), submitPrompt(page, '/export')]);
    await waitForDraft(page, '');

    expect(left).toBe('');
    expect(download.suggestedFilename()).toBe('say hello.html');
    expect(frames.sent.filter(({ type }) => type === 'prompt')).toHaveLength(1);
    expect(view.complaints).toEqual([]);
  });

  it('is sent to the agent if an extension defines it or if it has an argument', async () => {
    const { home } = homeWithCommands({ export: '' });
    const { page } = await visit((await servePage({ home })).loginLink);
    const frames = await watchFrames(page);

    await messageBox(page).fill('/export');
    await option(page, '/export').waitFor();
    await page.keyboard.press('Enter');
    const own = await frames.nextFromPage({ type: 'prompt' });
    await submitPrompt(page, '/model tau/scripted-small');
    await button(page, 'Model: Scripted (small)').waitFor();

    expect(own['message']).toBe('/export');
  });
});

describe('an @', () => {
  it('suggests project files without those that git ignores, folder by folder', async () => {
    const view = await visit((await servePage({ home: project() })).loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await messageBox(page).fill('Look at ');
    await page.keyboard.type('@');
    await option(page, 'README.md').waitFor();
    const all = (await page.getByRole('option').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());

    await page.keyboard.type('main');
    await option(page, 'main.ts').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('and @src');
    await option(page, /^src\/$/).waitFor();
    await page.keyboard.press('Tab');
    await option(page, 'my notes.md').waitFor();
    await page.keyboard.type('my');
    await option(page, 'well.ts').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await list(page).waitFor({ state: 'detached' });

    expect(await messageBox(page).inputValue()).toBe('Look at @src/main.ts and @"src/my notes.md" ');
    expect(all.some((path) => path.includes('out'))).toBe(false);
    expect(frames.sent.some(({ type }) => type === 'prompt')).toBe(false);
    expect(view.complaints).toEqual([]);
  });

  it('does not block a fully typed path', async () => {
    const { page } = await visit((await servePage({ home: project(), script: [{ text: 'Well.' }] })).loginLink);
    const frames = await watchFrames(page);
    await messageBox(page).fill('Read @src/main.ts');
    await option(page, 'main.ts').waitFor();

    await page.keyboard.press('Enter');

    expect((await frames.nextFromPage({ type: 'prompt' }))['message']).toBe('Read @src/main.ts');
  });

  it('suggests above the box, and Escape closes the suggestions before it stops a run', async () => {
    const script = [{ steps: [{ text: 'Endless ' }, { stall: true }] }];
    const { page } = await visit((await servePage({ home: project(), script })).loginLink);
    const frames = await watchFrames(page);
    await messageBox(page).fill('Talk');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await messageBox(page).fill('@');
    await list(page).waitFor();

    const [over, under] = [await list(page).boundingBox(), await messageBox(page).boundingBox()];
    await page.keyboard.press('Escape');
    await list(page).waitFor({ state: 'detached' });
    const stopped = frames.sent.filter(({ type }) => type === 'abort');
    await page.keyboard.press('Escape');
    await frames.nextFromPage({ type: 'abort' });

    expect((over?.y ?? 0) + (over?.height ?? 0)).toBeLessThanOrEqual(under?.y ?? 0);
    expect(stopped).toEqual([]);
    expect(await messageBox(page).inputValue()).toBe('@');
  });
});
