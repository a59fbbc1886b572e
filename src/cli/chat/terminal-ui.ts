import type { BaseClient } from '../../client/base-client.ts';
import { ConnectionLost } from '../../client/connection-lost.ts';
import { TerminalDialogs } from './dialogs.ts';
import { Printer, plainInk, terminalInk } from './printer.ts';
import { Terminal } from './terminal.ts';

/** What the built-in model understands. */
export const SUGGESTIONS = 'Try: list the files · read package.json · run `date` · write notes.txt: hello';

const HELP = `Enter sends. While the agent works, it reads what you send at its next step.
Ctrl-C stops the answer, or takes back what you typed. Ctrl-D leaves; the session is kept.
Lines that are pasted together are one prompt. The up key brings earlier lines back.
What an extension asks is answered by the next line, and called off by Ctrl-C.
? or /help shows this.
${SUGGESTIONS}`;

/** What happens at the terminal, for whoever has to know. */
export interface TerminalUiCallbacks {
  /** Something is sent, or an empty line. */
  readonly onEnter?: () => void;
  readonly onSend?: (message: string) => void;
  /** Nothing was said after all: it was refused, or done without a message. */
  readonly onDiscard?: (message: string) => void;
}

/** Lets whoever sits at the terminal take part in a conversation. */
export class TerminalUi {
  readonly printer: Printer;
  /** Settles when whoever typed has left. */
  readonly closed: Promise<void>;
  readonly #client: BaseClient;
  readonly #terminal = new Terminal(process.stdin, process.stdout);
  readonly #dialogs: TerminalDialogs;
  readonly #callbacks: TerminalUiCallbacks;
  /** What was sent from here and is not answered yet. */
  readonly #inFlight = new Set<Promise<void>>();
  #running = false;

  constructor(client: BaseClient, callbacks: TerminalUiCallbacks = {}) {
    this.#client = client;
    this.#callbacks = callbacks;
    this.printer = new Printer(this.#terminal, process.env['NO_COLOR'] ? plainInk : terminalInk);
    this.closed = this.#terminal.closed;
    this.#dialogs = new TerminalDialogs(this.printer);
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

  /** Settles when everything that was sent from here is answered. */
  async whenAcknowledged(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  /** Ends the conversation on this side. */
  close(): void {
    this.#terminal.close();
  }

  #handleLine(message: string): void {
    this.#callbacks.onEnter?.();
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
    else this.printer.note('(Ctrl-D leaves)');
  }

  async #send(message: string): Promise<void> {
    this.#callbacks.onSend?.(message);
    try {
      const { disposition } = await this.#client.prompt({ message, streamingBehavior: 'steer' });
      if (disposition === 'queued') this.printer.note('(queued for the next step)');
      if (disposition === 'handled') this.#callbacks.onDiscard?.(message);
    } catch (error) {
      this.#callbacks.onDiscard?.(message);
      if (!(error instanceof ConnectionLost)) this.printer.failure(error);
    }
  }
}
