import type { App } from '../state/app.ts';

/** Copies the conversation into a new session and goes there. */
export async function clone(app: App): Promise<void> {
  const session = app.session.value;
  await session.attempt(async () => {
    const { sessionId } = await session.remote.clone({ detached: true });
    if (sessionId !== undefined) app.go({ kind: 'session', id: sessionId });
  });
}

/** Fetches the session as one web page. */
export async function exportPage(app: App): Promise<void> {
  const session = app.session.value;
  await session.attempt(async () => {
    const { url } = await session.remote.exportHtml({});
    if (url !== undefined) location.assign(url);
  });
}
