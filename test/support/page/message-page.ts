import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { RunningTool } from '../../../src/client/view/view.ts';

const WEB = join(import.meta.dirname, '../../../src/web');

const SCRIPT = `
import { render } from 'preact';
import { Message } from './message.tsx';

globalThis.draw = ({ message, results = {}, progress = {}, isStreaming }) =>
  render(
    <Message
      message={message}
      context={{ resultOf: (id) => results[id], progressOf: (id) => progress[id], isStreaming }}
    />,
    document.querySelector('main'),
  );
`;

/** A message with the state around it. */
interface RenderedMessage {
  readonly message: object;
  readonly results?: Readonly<Record<string, object>>;
  readonly progress?: Readonly<Record<string, 'waiting' | RunningTool>>;
  readonly isStreaming?: boolean;
}

/** Writes a page that shows a single message and returns its path. */
export async function writeMessagePage(): Promise<string> {
  const { outputFiles: scripts } = await build({
    stdin: { contents: SCRIPT, resolveDir: join(WEB, 'message'), loader: 'tsx', sourcefile: 'script.tsx' },
    bundle: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
  });
  const { outputFiles: styles } = await build({
    entryPoints: [join(WEB, 'export/page.css')],
    bundle: true,
    write: false,
  });
  const file = join(mkdtempSync(join(tmpdir(), 'tau-message-')), 'page.html');
  const policy = "require-trusted-types-for 'script'; trusted-types 'none'";
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>A message</title><style>${styles[0]?.text}</style>
    <body><main></main><script>${scripts[0]?.text}</script>`,
  );
  return file;
}

/** Shows a message on the page instead of the one before. */
export const renderMessage = (page: Page, message: RenderedMessage): Promise<unknown> =>
  page.evaluate(`void draw(${JSON.stringify(message)})`);
