import { join } from 'node:path';
import { withLocalModel } from './local-model.mjs';

const client = join(import.meta.dirname, 'bare-client.mjs');

/** Samplers that call `use` with an agent whose model is behind HTTP, and with a bare HTTP client of the same model. */
export const overHttp = (workspace, model, use) => ({
  tau: () =>
    withLocalModel(workspace, (server) =>
      workspace.agent(['--no-session', '--stream', 'delta', '--model', `bench/${model}`], (child) =>
        use(child, server),
      ),
    ),
  node: () =>
    withLocalModel(workspace, (server) =>
      workspace.program(client, [server.url, model], { use: (child) => use(child, server) }),
    ),
});
