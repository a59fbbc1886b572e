import * as approvals from './approvals/approval.ts';
import { connection } from './commands/connection.ts';
import { models as modelCommands } from './commands/models.ts';
import { prompting } from './commands/prompting.ts';
import type { CommandTable } from './commands/row.ts';
import { runs } from './commands/runs.ts';
import { sessions } from './commands/sessions.ts';
import { tools } from './commands/tools.ts';
import * as content from './content.ts';
import * as entries from './entries.ts';
import { errorCodes } from './errors.ts';
import { agentEvents } from './events/agent.ts';
import { clientEvents } from './events/client.ts';
import type { EventTable } from './events/row.ts';
import { sessionEvents } from './events/session.ts';
import { frames } from './frames.ts';
import * as messages from './messages.ts';
import * as models from './models.ts';
import * as state from './state.ts';

/** The whole protocol, for the generator alone: no running code imports the tables. */
export const tables = {
  commands: {
    ...prompting,
    ...runs,
    ...connection,
    ...sessions,
    ...modelCommands,
    ...tools,
  } satisfies CommandTable,
  events: { ...agentEvents, ...sessionEvents, ...clientEvents } satisfies EventTable,
  frames,
  errorCodes,
  definitions: { ...content, ...models, ...messages, ...entries, ...state, ...approvals },
};
