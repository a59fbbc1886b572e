import type { BaseClient } from '../../client/base-client.ts';
import { ConnectionLost } from '../../client/errors.ts';
import type { SessionState } from '../../protocol/generated/vocabulary.ts';
import { ApprovalCommands } from './approval-commands.ts';
import { TerminalDialogs } from './dialogs.ts';
import { Printer, plainInk, terminalInk } from './printer.ts';
import { Terminal } from './terminal.ts';

/** Prompts that the built-in model understands. */
export const SUGGESTIONS = 'Try: list the files · read package.json · run `date` · write notes.txt: hello';

const HELP = `Enter sends. While the agent works, it reads what you send at its next step.
Ctrl-C stops the answer, or clears your input. Ctrl-D exits; the session is kept.
Lines that are pasted together are one prompt. The up key brings earlier lines back.
What an extension asks is answered by the next line, and called off by Ctrl-C.
A question about a tool call: y allows it, n denies it, n and words say why.
/mode shows what runs without a question, /mode <mode> sets it.
/approvals lists the saved approvals, /approvals remove <rule> withdraws one.
? or /help shows this.
${SUGGESTIONS}`;

/** Callbacks for the input of the chat. */
export interface TerminalUiCallbacks {
  /** A line was entered, possibly an empty one. */
  readonly onEnter?: () => void;
  readonly onSend?: (message: string) => void;
  /** The message was rejected, or handled without becoming a message. */
  readonly onDiscard?: (message: string) => void;
  /** Messages wait for it. */
  readonly ready?: Promise<unknown>;
}

/** Connects a client to the terminal: prints events, sends lines, shows dialogs. */
export class TerminalUi {
  readonly printer: Printer;
  /** Resolves when the user has left. */
  readonly closed: Promise<void>;
  readonly #client: BaseClient;
  readonly #terminal = new Terminal(process.stdin, process.stdout);
  readonly #dialogs: TerminalDialogs;
  readonly #approvals: ApprovalCommands;
  readonly #callbacks: TerminalUiCallbacks;
  readonly #inFlight = new Set<Promise<void>>();
  #running = false;

  constructor(client: BaseClient, callbacks: TerminalUiCallbacks = {}) {
    this.#client = client;
    this.#callbacks = callbacks;
    this.printer = new Printer(this.#terminal, process.env['NO_COLOR'] ? plainInk : terminalInk);
    this.closed = this.#terminal.closed;
    this.#dialogs = new TerminalDialogs(this.printer, () => this.#terminal.clear());
    this.#approvals = new ApprovalCommands(client, this.printer);
    client.onEvent((event) => {
      if (event.type === 'agent_start') this.#running = true;
      if (event.type === 'agent_settled') this.#running = false;
      if (event.type === 'state_synced') this.#running = event.state.isStreaming;
      this.printer.event(event);
    });
    client.onUiRequest((request, { signal }) => this.#dialogs.show(request, signal));
    this.#terminal.onLine((text) => this.#handleLine(text.trimEnd()));
    this.#terminal.onInterrupt(() => this.#interrupt());
  }

  /** Resolves when every message from here has its response. */
  async whenAcknowledged(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  /** Prints the approval mode of this state, if there is one, and every change from now on. */
  showApprovalMode(state: Partial<SessionState> = {}): void {
    this.#approvals.show(state);
    this.#client.onEvent((event) => this.#approvals.handleEvent(event));
  }

  close(): void {
    this.#terminal.close();
  }

  #handleLine(message: string): void {
    this.#callbacks.onEnter?.();
    const isCommand = (!this.#dialogs.isOpen || this.#dialogs.isApproval) && this.#approvals.handleLine(message);
    if (isCommand) return;
    if (this.#dialogs.isOpen) this.#dialogs.handleLine(message);
    else if (message === '?' || message === '/help') this.printer.note(HELP);
    else if (message !== '') {
      const sent = this.#send(message).finally(() => this.#inFlight.delete(sent));
      this.#inFlight.add(sent);
    }
  }

  #interrupt(): void {
    if (this.#dialogs.isOpen) this.#dialogs.cancel();
    else if (this.#running) this.#client.abort().catch(() => {});
    else if (!this.#terminal.isBlank) this.#terminal.clear();
    else this.printer.note('(Ctrl-D exits)');
  }

  async #send(message: string): Promise<void> {
    this.#callbacks.onSend?.(message);
    try {
      await this.#callbacks.ready;
      const { disposition } = await this.#client.prompt({ message, streamingBehavior: 'steer' });
      if (disposition === 'queued') this.printer.note('(queued for the next step)');
      if (disposition === 'handled') this.#callbacks.onDiscard?.(message);
    } catch (error) {
      this.#callbacks.onDiscard?.(message);
      if (!(error instanceof ConnectionLost)) this.printer.failure(error);
    }
  }
}
