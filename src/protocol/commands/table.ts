import { models } from './models.ts';
import { prompting } from './prompting.ts';
import type { CommandTable } from './row.ts';
import { sessions } from './sessions.ts';
import { upkeep } from './upkeep.ts';

/** Every command tau answers. Types, validation, the client, the reference and the malformed-input tests derive from it. */
export const commands = { ...prompting, ...sessions, ...models, ...upkeep } satisfies CommandTable;
