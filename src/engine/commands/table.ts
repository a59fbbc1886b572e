import type { Handlers } from '../dispatch.ts';
import { exporting } from './export.ts';
import { files } from './files.ts';
import { connection } from './connection.ts';
import { hostTools } from './host-tools.ts';
import { mcp } from './mcp.ts';
import { navigation } from './navigation.ts';
import { preflight } from './preflight.ts';
import { prompting } from './prompting.ts';
import { reading } from './reading.ts';
import { sessions } from './sessions.ts';
import { models } from './models.ts';
import { shell } from './shell.ts';
import { storedSessions } from './stored-sessions.ts';
import { todos } from './todos.ts';
import { tools } from './tools.ts';
import { runs } from './runs.ts';

/** Maps every command to its handler. The compiler rejects a table that lacks one. */
export const handlers: Handlers = {
  ...prompting,
  ...connection,
  ...sessions,
  ...reading,
  ...navigation,
  ...exporting,
  ...files,
  ...models,
  ...shell,
  ...tools,
  ...todos,
  ...mcp,
  ...hostTools,
  ...preflight,
  ...storedSessions,
  ...runs,
};
