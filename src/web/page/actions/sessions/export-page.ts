import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { fetchFile } from '../../server-api.ts';
import type { App } from '../../state/app.ts';
import { sessionTitle } from '../../state/list/session-summaries.ts';
import { attempt } from './connections.ts';
import { withOtherSession, isCurrent } from './elsewhere.ts';

/** How long a browser may take to begin a download. */
const DOWNLOAD_MS = 60_000;

/** Downloads a session as a page; the one that is looked at unless there is another. */
export const exportPage = (app: App, summary?: SessionSummary): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    // Whoever asks may be elsewhere by the time of the answer.
    const name = fileNameOf(summary ? sessionTitle(summary) : app.title.value);
    const exported = isCurrent(app, summary)
      ? await remote.exportHtml()
      : await withOtherSession(summary, (other) => other.exportHtml());
    if (exported.url === undefined) throw new Error('The server offers no file');
    download(await fetchFile(exported.url), name);
  });

/** Without what file systems do not take. */
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
