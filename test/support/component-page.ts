import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll } from 'vitest';
import { securityHeaders } from '../../src/server/http/security-headers.ts';

const ROOT = join(import.meta.dirname, '../..');
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** The script of the page: `show(component, properties)` draws a component. */
const SCRIPT = `
  import { h, render } from 'preact';
  import { CodeBlock, Highlighted } from './src/web/code/code-block.tsx';
  import { PlainText } from './src/web/code/plain-text.tsx';
  import { Markdown } from './src/web/markdown/markdown.tsx';
  const components = { CodeBlock, Highlighted, Markdown, PlainText };
  globalThis.show = (name, properties) => render(h(components[name], properties), document.querySelector('main'));`;

/** Serves a page that shows single components, under the rules of the real one. Answers its address; gone after the file. */
export async function serveComponents(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'components-'));
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

  const server = createServer((request, answer) => {
    const name = basename(new URL(request.url ?? '/', 'http://localhost').pathname) || 'index.html';
    answer.writeHead(200, { ...securityHeaders, 'Content-Type': TYPES[extname(name)] ?? 'text/plain' });
    answer.end(readFileSync(join(folder, name)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
