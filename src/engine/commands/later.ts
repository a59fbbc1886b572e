import { Refusal } from '../../protocol/errors.ts';
import type { CommandName } from '../../protocol/generated/vocabulary.ts';
import type { Handlers } from '../dispatch.ts';

const refuse = (command: CommandName) => (): never => {
  throw new Refusal('not_supported', `Command not supported: ${command}`);
};

/** Commands that the protocol has and this version does not do yet. */
export const later = {
  navigate_tree: refuse('navigate_tree'),
} satisfies Partial<Handlers>;
