import { commands } from './commands/runs.ts';
import * as content from './content.ts';
import * as entries from './entries.ts';
import { errorCodes } from './errors.ts';
import { events } from './commands/connection.ts';
import { frames } from './frames.ts';
import * as messages from './messages.ts';
import * as models from './models.ts';
import * as state from './state.ts';

/** The whole protocol, for the generator alone: nothing that runs imports the tables. */
export const tables = {
  commands,
  events,
  frames,
  errorCodes,
  definitions: { ...content, ...models, ...messages, ...entries, ...state },
};
