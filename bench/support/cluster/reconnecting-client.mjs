import { pathToFileURL } from 'node:url';

/** A client of the published library, which connects again by itself. */
export async function reconnectingClient(workspace, { url, token }, session) {
  const { connectRemote } = await import(pathToFileURL(workspace.path('dist/client-node.js')).href);
  const client = connectRemote(url, { token, session });
  let waiting = [];
  const received = [];
  client.onEvent((event) => {
    const at = performance.now();
    received.push({ at, event });
    waiting = waiting.filter(({ type, resolve }) => {
      if (event.type !== type) return true;
      resolve(at);
      return false;
    });
  });
  return {
    /** All events so far, with their times. */
    received,
    /** Resolves to the time of the next event of this type. */
    until: (type) => new Promise((resolve) => waiting.push({ type, resolve })),
    call: (command, params) => client.call(command, params),
    close: () => client.close(),
  };
}
