import { models } from './models.ts';
import { prompting } from './prompting.ts';
import type { CommandTable } from './row.ts';
import { sessions } from './sessions.ts';
import { tools } from './tools.ts';

/** Every command tau answers. Types, validation, the client, the reference and the malformed-input tests derive from it. */
export const commands = { ...prompting, ...sessions, ...models, ...tools } satisfies CommandTable;
