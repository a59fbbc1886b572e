import { Conversation } from './conversation/message-list.tsx';
import { ApprovalForm } from './status/approval/approval-form.tsx';

/** The parts of a session that are loaded together, after the composer accepts text. */
export const sessionParts = { Conversation, ApprovalForm };
