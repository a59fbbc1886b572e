import type { ContentBlock } from '../../../protocol/generated/vocabulary.ts';
import type { Session } from '../../../session/session.ts';
import { toCustomMessage } from '../hooks/run-hooks.ts';
import { parseCustomMessage, plainCopy, toBlocks } from '../hooks/validate-results.ts';
import { SessionView } from './session-view.ts';

type Content = string | ContentBlock[];

/** A new session during `setup`, in pi's shape: initial entries can be appended. */
export class SessionDraft extends SessionView {
  readonly #transcript: () => Session['transcript'];

  constructor(session: () => Session) {
    super(session);
    this.#transcript = () => session().transcript;
  }

  /** Accepts user messages only. */
  appendMessage = ({ role, content }: { role: string; content: Content }): void => {
    if (role !== 'user') throw new TypeError(`The first message of a session must have the role user, not ${role}`);
    const checked =
      typeof content === 'string' ? [{ type: 'text' as const, text: content }] : toBlocks('content', content);
    this.#transcript().add({ role, content: checked, timestamp: Date.now() });
  };

  appendCustomEntry = (customType: string, data?: unknown): void => {
    const copy = data === undefined ? {} : { data: plainCopy(data) };
    this.#transcript().append({ type: 'custom', customType: String(customType), ...copy });
  };

  appendCustomMessageEntry = (customType: string, content: Content, display = true, details?: unknown): void => {
    this.#transcript().add(toCustomMessage(parseCustomMessage({ customType, content, display, details })));
  };

  appendSessionInfo = (name: string): void => {
    this.#transcript().append({ type: 'session_info', name: String(name) });
  };
}
