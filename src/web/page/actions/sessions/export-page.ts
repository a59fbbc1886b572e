import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { fetchFile } from '../../server-api.ts';
import type { App } from '../../state/app.ts';
import { sessionTitle } from '../../state/list/session-summaries.ts';
import { attempt, isCurrent, withOtherSession } from './connections.ts';

// A browser has this long to start the download.
const DOWNLOAD_MS = 60_000;

/** Downloads a session as an HTML page; without a summary, the open one. */
export const exportPage = (app: App, summary?: SessionSummary): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    // The user may open another session before the response arrives.
    const name = fileNameOf(summary ? sessionTitle(summary) : app.title.value);
    const exported = isCurrent(app, summary)
      ? await remote.exportHtml()
      : await withOtherSession(summary, (other) => other.exportHtml());
    if (exported.url === undefined) throw new Error('The server offers no file');
    download(await fetchFile(exported.url), name);
  });

/** Replaces characters that file systems reject. */
const fileNameOf = (title: string) =>
  `${
    title
      .replaceAll(/[\p{C}/\\:*?"<>|]+/gu, ' ')
      .trim()
      .slice(0, 80) || 'session'
  }.html`;

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}
