import { Refusal } from '../../protocol/errors.ts';
import type { CommandName } from '../../protocol/generated/vocabulary.ts';
import type { Handlers } from '../dispatch.ts';

const refuse = (command: CommandName) => (): never => {
  throw new Refusal('not_supported', `Command not supported: ${command}`);
};

/** Commands that the protocol has and this version does not do yet. */
export const later = {
  set_host_tools: refuse('set_host_tools'),
  set_mcp_servers: refuse('set_mcp_servers'),
  set_todos: refuse('set_todos'),
} satisfies Partial<Handlers>;
