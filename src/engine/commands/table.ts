import type { Handlers } from '../dispatch.ts';
import { connection } from './connection.ts';
import { models } from './models.ts';
import { prompting } from './prompting.ts';
import { runs } from './runs.ts';
import { sessions } from './sessions.ts';
import { tools } from './tools.ts';

/** Maps every command to its handler. The compiler rejects a table that lacks one. */
export const handlers: Handlers = { ...prompting, ...connection, ...sessions, ...models, ...runs, ...tools };
