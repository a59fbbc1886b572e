import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../support/page/browser.ts';
import { button, messageBox } from '../support/page/page-actions.ts';
import { servePage, submitPrompt } from '../support/page/page-server.ts';
import { watchFrames } from '../support/page/socket-frames.ts';

const { visit } = useBrowser();

const attachments = (page: Page) => page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');

interface TestFile {
  readonly name: string;
  readonly type?: string;
  readonly text?: string;
  /** Makes the file an image of this size instead of a text. */
  readonly size?: readonly [number, number];
}

const tiny: TestFile = { name: 'tiny.png', type: 'image/png', size: [2, 1] };

/** Dispatches the event with which a browser passes files to the page. */
const dispatchFiles = (page: Page, how: 'paste' | 'drop' | 'dragover', files: readonly TestFile[]) =>
  page.evaluate(`(async () => {
    const data = new DataTransfer();
    for (const { name, type = '', text = '', size } of ${JSON.stringify(files)}) {
      const canvas = Object.assign(document.createElement('canvas'), { width: size?.[0], height: size?.[1] });
      canvas.getContext('2d').fillRect(0, 0, 1, 1);
      const content = size ? await new Promise((done) => canvas.toBlob(done, type)) : text;
      data.items.add(new File([content], name, { type }));
    }
    const options = { bubbles: true, cancelable: true };
    const event = ${JSON.stringify(how)} === 'paste'
      ? new ClipboardEvent('paste', { ...options, clipboardData: data })
      : new DragEvent(${JSON.stringify(how)}, { ...options, dataTransfer: data });
    document.querySelector(${JSON.stringify(how)} === 'paste' ? '[aria-label="Message"]' : 'main').dispatchEvent(event);
  })()`);

/** Width and height of a PNG. */
const sizeOf = (data: string) => {
  const bytes = Buffer.from(data, 'base64');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};

describe('files', () => {
  it('can be pasted, dropped and chosen: images are sent as images, text under its file name', async () => {
    const view = await visit((await servePage({ script: [{ text: 'I see.' }] })).loginLink);
    const { page } = view;
    const frames = await watchFrames(page);
    await messageBox(page).fill('Look');

    await dispatchFiles(page, 'paste', [tiny]);
    await attachments(page).getByRole('img', { name: 'tiny.png' }).waitFor();
    await dispatchFiles(page, 'dragover', [tiny]);
    await page.getByText('Drop images and text files to attach them').waitFor();
    await dispatchFiles(page, 'drop', [
      { name: 'a.md', text: '```\ncode\n```' },
      { name: 'gone.txt', text: 'gone' },
    ]);
    await attachments(page).getByText('gone.txt').waitFor();
    await page
      .getByLabel('Files to attach')
      .setInputFiles([{ name: 'b.ts', mimeType: 'video/mp2t', buffer: Buffer.from('let b;\n') }]);
    await attachments(page).getByText('b.ts').waitFor();
    await page.getByRole('button', { name: 'Remove gone.txt' }).click();
    await attachments(page).getByText('gone.txt').waitFor({ state: 'detached' });
    await messageBox(page).press('Enter');
    const { message, images } = await frames.nextFromPage({ type: 'prompt' });
    await frames.nextFromServer({ type: 'agent_settled' });

    expect(message).toBe('Look\n\na.md\n````\n```\ncode\n```\n````\n\nb.ts\n```\nlet b;\n```');
    expect(images).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(sizeOf(images[0].data)).toEqual([2, 1]);
    expect(await attachments(page).count()).toBe(0);
    expect(view.complaints).toEqual([]);
  });

  it('that are large images are scaled down', async () => {
    const { page } = await visit((await servePage({ script: [{ text: 'I see.' }] })).loginLink);
    const frames = await watchFrames(page);

    await dispatchFiles(page, 'drop', [{ name: 'wide.png', type: 'image/png', size: [4000, 1000] }]);
    await attachments(page).getByRole('img', { name: 'wide.png' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();

    const { images } = await frames.nextFromPage({ type: 'prompt' });
    expect(sizeOf(images[0].data)).toEqual([2000, 500]);
  });

  it.each([
    [{ name: 'a.zip', text: 'PK\0' }, 'a.zip is neither text nor an image.'],
    [
      { name: 'a.heic', type: 'image/heic', text: 'x' },
      'a.heic is no PNG, JPEG, GIF or WebP: models do not take other images.',
    ],
    [{ name: 'a.png', type: 'image/png', text: 'x' }, 'a.png cannot be read.'],
    [{ name: 'a.log', text: 'x'.repeat(256 * 1024 + 1) }, 'a.log is larger than 256 KB.'],
  ] as const)('that cannot be sent are rejected with a reason: %$', async (file, reason) => {
    const { page } = await visit((await servePage()).loginLink);
    await messageBox(page).fill('Look');

    await dispatchFiles(page, 'drop', [file]);

    await page.getByRole('alert').getByText(reason).waitFor();
    expect(await attachments(page).count()).toBe(0);
  });

  it('are limited to 12 images', async () => {
    const { page } = await visit((await servePage()).loginLink);
    await messageBox(page).waitFor();

    await dispatchFiles(
      page,
      'drop',
      Array.from({ length: 13 }, () => tiny),
    );
    await page.getByText('At most 12 images go with a message.').waitFor();

    expect(await attachments(page).count()).toBe(12);
  });

  it('return to the composer with their queued message when the run is stopped', async () => {
    const script = [{ steps: [{ text: 'Endless ' }, { stall: true }] }];
    const { page } = await visit((await servePage({ script })).loginLink);
    const frames = await watchFrames(page);
    await messageBox(page).fill('Talk');
    await messageBox(page).press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await dispatchFiles(page, 'drop', [tiny, { name: 'a.txt', text: 'a' }]);
    await attachments(page).getByText('a.txt').waitFor();
    await messageBox(page).fill('And this');
    await messageBox(page).press('Enter');
    await frames.nextFromServer({ type: 'queue_update' });

    await page.keyboard.press('Escape');
    await attachments(page).getByText('a.txt').waitFor();

    expect(await messageBox(page).inputValue()).toBe('And this');
    expect(await attachments(page).count()).toBe(2);
  });
});

it('of two messages without text, stopping the run returns only the picture that was not delivered', async () => {
  const script = [{ text: 'I see.' }, { steps: [{ text: 'Endless ' }, { stall: true }] }];
  const { page } = await visit((await servePage({ script })).loginLink);
  const frames = await watchFrames(page);
  const drop = async (name: string) => {
    await dispatchFiles(page, 'drop', [{ ...tiny, name }]);
    await attachments(page).getByRole('img', { name }).waitFor();
  };
  await drop('delivered.png');
  await messageBox(page).press('Enter');
  await frames.nextFromServer({ type: 'agent_settled' });
  await messageBox(page).fill('Talk');
  await messageBox(page).press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await drop('queued.png');
  await messageBox(page).press('Enter');
  await frames.nextFromServer({ command: 'prompt', success: true });
  await frames.nextFromServer({ type: 'queue_update' });

  await page.keyboard.press('Escape');

  await attachments(page).getByRole('img', { name: 'queued.png' }).waitFor();
  expect(await attachments(page).count()).toBe(1);
});

it('a fork puts the pictures of the forked message into the composer', async () => {
  const { page, complaints } = await visit(
    (await servePage({ script: [{ text: 'I see.' }, { text: 'Again.' }] })).loginLink,
  );
  const frames = await watchFrames(page);
  await dispatchFiles(page, 'paste', [tiny]);
  await attachments(page).getByRole('img', { name: 'tiny.png' }).waitFor();
  await messageBox(page).fill('Look');
  await page.keyboard.press('Enter');
  const { images } = await frames.nextFromPage({ message: 'Look' });
  await frames.nextFromServer({ type: 'agent_settled' });

  await page.getByRole('button', { name: 'Fork from here' }).focus();
  await page.keyboard.press('Enter');
  await attachments(page).getByRole('img', { name: 'Image 1' }).waitFor();
  const draft = await messageBox(page).inputValue();
  await messageBox(page).press('Enter');
  const again = await frames.nextFromPage({ type: 'prompt' });

  expect([draft, again['message'], again['images']]).toEqual(['Look', 'Look', images]);
  expect(complaints).toEqual([]);
});

it('attaching an image shows a warning if the model cannot see images', async () => {
  const { page } = await visit((await servePage({ args: ['--model', 'tau/scripted-small'] })).loginLink);
  await messageBox(page).waitFor();

  await dispatchFiles(page, 'drop', [tiny]);

  await page.getByText('This model cannot see images.').waitFor();
});

it('pasted text stays text, even if it is long or comes with a picture of it', async () => {
  const { page } = await visit((await servePage()).loginLink);
  await messageBox(page).waitFor();
  const text = 'words '.repeat(2000);

  const wasHandled = await page.evaluate(`(() => {
    const data = new DataTransfer();
    data.setData('text/plain', 'x');
    data.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
    const paste = new ClipboardEvent('paste', { cancelable: true, clipboardData: data });
    return !document.querySelector('[aria-label="Message"]').dispatchEvent(paste);
  })()`);
  await messageBox(page).focus();
  await page.keyboard.insertText(text);

  expect([wasHandled, await messageBox(page).inputValue(), await attachments(page).count()]).toEqual([false, text, 0]);
});

it('the browser asks for confirmation before it unloads a page with attachments in any session', async () => {
  const { page, complaints } = await visit((await servePage()).loginLink);
  const frames = await watchFrames(page);
  await submitPrompt(page, 'say hello');
  await frames.nextFromServer({ type: 'agent_settled' });
  await page.waitForURL(/session=/);
  await dispatchFiles(page, 'paste', [{ name: 'a.md', text: 'words' }]);
  await attachments(page).getByText('a.md').waitFor();
  await button(page, 'New session').click();
  await attachments(page).waitFor({ state: 'detached' });

  const confirmation = page.waitForEvent('dialog');
  await page.evaluate('location.reload()');
  const kind = (await confirmation).type();
  await page.goBack();
  await attachments(page).getByText('a.md').waitFor();
  await page.getByRole('button', { name: 'Remove a.md' }).click();
  await attachments(page).waitFor({ state: 'detached' });
  await page.reload();

  expect(kind).toBe('beforeunload');
  expect(complaints).toEqual(['dialog: ']);
});
