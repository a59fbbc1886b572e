import { approvalModes } from '../../protocol/approvals/approval-modes.ts';
import type { Params, ServerConnectedEvent, StateSyncedEvent } from '../../protocol/generated/vocabulary.ts';

/** The approval mode and the sandbox that a client requests for the sessions that it creates. */
export type RequestedApprovals = Pick<Params<'set_approval_mode'>, 'mode' | 'sandbox'>;

/**
 * Whether a session can be used although this code refused its mode: it is held to a stricter one, or its agent knows no
 * modes. After any other failure it would run everything without a question.
 */
export const isUsableAfter = (code: unknown): boolean =>
  code === 'permission_denied' || code === 'unknown_command' || code === 'not_supported';

/** Decides on each connection whether the created session still needs its approval mode. */
export class InitialApprovals {
  #params: RequestedApprovals;
  /** The id came from outside: another page or program may have created the session before. */
  readonly #mayExist: boolean;
  /** The created session; a later move of the connection leads elsewhere. */
  #sessionId: string | undefined;
  #isExisting = false;
  #isPending = false;
  /** The numbering of the session whose server has responded. */
  #epoch: string | undefined;

  constructor(params: RequestedApprovals, { mayExist }: { readonly mayExist: boolean }) {
    this.#params = params;
    this.#mayExist = mayExist;
  }

  get params(): RequestedApprovals {
    return this.#params;
  }

  /** Takes the next stricter mode, after a refusal for the limit of a token or a server; false if there is none. */
  tighten(): boolean {
    const { mode } = this.#params;
    const stricter = mode && approvalModes[approvalModes.indexOf(mode) - 1];
    if (stricter === undefined) return false;
    this.#params = { ...this.#params, mode: stricter };
    return true;
  }

  /** Recognizes an existing session by the first snapshot: it has messages, or a mode that was chosen. */
  onSnapshot({ state, messages }: StateSyncedEvent): void {
    if (!this.#mayExist || this.#sessionId !== undefined) return;
    this.#isExisting = messages.length > 0 || state.messageCount > 0 || (state.approvalMode ?? 'full') !== 'full';
  }

  /**
   * Whether to send the request now. An empty session is not stored: one that a server has forgotten is created again,
   * with a new numbering and without the mode.
   */
  begin({ sessionId, epoch }: ServerConnectedEvent, { isEmpty }: { readonly isEmpty: boolean }): boolean {
    this.#sessionId ??= sessionId;
    const isKnown = this.#epoch !== undefined && (!isEmpty || this.#epoch === epoch);
    if (this.#isPending || this.#isExisting || isKnown || sessionId !== this.#sessionId) return false;
    this.#isPending = true;
    return true;
  }

  /** The server has responded; undefined: the connection was lost before. */
  end(epoch: string | undefined): void {
    this.#isPending = false;
    this.#epoch = epoch ?? this.#epoch;
  }
}
