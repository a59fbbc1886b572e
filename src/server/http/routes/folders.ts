import { sendJson } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';

/** `GET /api/folders?path=&hidden=1`: the subfolders of a folder, for clients that may start a session. */
export const folders: Route = {
  methods: readMethods,
  requires: 'prompt',
  handle: async ({ response, admission, services, grant }) => {
    const path = admission.query.get('path') || undefined;
    sendJson(response, await services.listFolders(grant, { path, hidden: admission.query.get('hidden') === '1' }));
  },
};
