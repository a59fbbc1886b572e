import { join } from 'node:path';
import { withLocalModel } from './local-model.mjs';

const client = join(import.meta.dirname, 'bare-client.mjs');

/** Samplers that let `use` work with an agent whose model is behind HTTP, and with a bare node that asks the same. */
export const overHttp = (place, model, use) => ({
  tau: () =>
    withLocalModel(place, (server) =>
      place.agent(['--no-session', '--stream', 'delta', '--model', `bench/${model}`], (child) => use(child, server)),
    ),
  node: () =>
    withLocalModel(place, (server) =>
      place.program(client, [server.url, model], { use: (child) => use(child, server) }),
    ),
});
