import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { securityHeaders } from '../../../src/server/http/responses.ts';
import { useBrowser, type View, type ViewOptions } from './browser.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

// `show(properties)` renders the component.
const SCRIPT = `
  import { h, render } from 'preact';
  import { Markdown } from './src/web/markdown/markdown.tsx';
  globalThis.show = (properties) => render(h(Markdown, properties), document.querySelector('main'));`;

interface MarkdownPage {
  /** Opens a page that shows nothing yet. */
  readonly open: (options?: ViewOptions) => Promise<View>;
}

/** Serves a page that shows only markdown, with the security headers of the real page. */
export function useMarkdownPage(): MarkdownPage {
  const { visit } = useBrowser();
  let address = '';
  beforeAll(async () => {
    address = await serveMarkdownPage();
  });
  const open: MarkdownPage['open'] = async (options) => {
    const view = await visit(address, options);
    await view.page.waitForFunction('globalThis.show');
    return view;
  };
  return { open };
}

/** Shows markdown on such a page. */
export const showMarkdown = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`show({ text: ${JSON.stringify(text)} })`);

/** Shows markdown as it grows, a few characters per frame; runs the page code `after` each frame. */
export const streamMarkdown = (page: Page, text: string, { from = 0, step = 5, after = '' } = {}): Promise<unknown> =>
  page.evaluate(`(async () => {
    const text = ${JSON.stringify(text)};
    for (let end = ${from}; end < text.length; end += ${step}) {
      show({ text: text.slice(0, end), isStreaming: true });
      await new Promise(requestAnimationFrame);
      ${after}
    }
    show({ text, isStreaming: true });
  })()`);

/** Returns the address of the page; the server closes after the test file. */
async function serveMarkdownPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'markdown-'));
  await build({
    stdin: { contents: SCRIPT, resolveDir: ROOT, sourcefile: 'script.ts' },
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: folder,
    entryNames: 'script',
    logLevel: 'warning',
  });
  await build({ entryPoints: [join(ROOT, 'src/web/page/page.css')], bundle: true, outfile: join(folder, 'page.css') });
  const head = '<meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" href="page.css">';
  const body = '<main></main><script type="module" src="script.js"></script>';
  writeFileSync(join(folder, 'index.html'), `<!doctype html><html lang="en"><title>Page</title>${head}${body}</html>`);

  const server = createServer((request, response) => {
    const name = basename(new URL(request.url ?? '/', 'http://localhost').pathname) || 'index.html';
    response.writeHead(200, { ...securityHeaders, 'Content-Type': TYPES[extname(name)] ?? 'text/plain' });
    response.end(readFileSync(join(folder, name)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
