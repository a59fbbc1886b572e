import type { BaseClient } from '../../client/base-client.ts';
import { CommandFailed } from '../../client/errors.ts';
import { isUsableAfter } from '../../client/remote/initial-approvals.ts';
import { choices } from '../../protocol/generated/choices.ts';
import type {
  AgentEvent,
  ApprovalMode,
  SandboxState,
  SavedApproval,
  SessionState,
} from '../../protocol/generated/vocabulary.ts';
import type { Printer } from './printer.ts';

/** The request of tau's own terminal clients for the sessions that they create. */
export const CHAT_APPROVALS = { mode: 'auto', sandbox: 'auto' } as const;

type ApprovalState = Partial<Pick<SessionState, 'approvalMode' | 'approvalModes' | 'sandbox'>>;

/** The commands `/mode` and `/approvals` of the chat, and the line that prints the mode when it changes. */
export class ApprovalCommands {
  readonly #client: BaseClient;
  readonly #printer: Printer;
  #state: ApprovalState = {};
  #printed: string | undefined;
  #printCount = 0;

  constructor(client: BaseClient, printer: Printer) {
    this.#client = client;
    this.#printer = printer;
  }

  /** Runs the command in a line; false if the line is none. */
  handleLine(line: string): boolean {
    const [, name, rest = ''] = /^\/(mode|approvals)(?:[ \t]+(.*))?$/.exec(line) ?? [];
    if (name === undefined) return false;
    const done = name === 'mode' ? this.#mode(rest.trim()) : this.#approvals(rest.trim());
    done.catch((error: unknown) => this.#printer.failure(error));
    return true;
  }

  /** Prints a changed mode or sandbox. */
  handleEvent(event: AgentEvent): void {
    if (event.type === 'state_synced') this.show(event.state);
    if (event.type === 'state_changed') this.show(event.state);
  }

  /** Prints the mode, unless it is on screen, or nothing needs an approval from the beginning. */
  show(changes: ApprovalState): void {
    const { approvalMode = this.#state.approvalMode, sandbox = this.#state.sandbox } = changes;
    this.#state = { approvalMode, sandbox };
    const isUnrestricted = approvalMode === 'full' && (sandbox?.status ?? 'off') === 'off';
    if (approvalMode === undefined || (isUnrestricted && this.#printed === undefined)) return;
    const text = stateText(approvalMode, sandbox);
    if (text !== this.#printed) this.#print(text);
  }

  #print(text: string): void {
    this.#printed = text;
    this.#printCount++;
    this.#printer.note(text);
  }

  async #mode(word: string): Promise<void> {
    if (word === '') {
      const { approvalMode, approvalModes, sandbox } = await this.#client.getState();
      if (approvalMode === undefined) throw new Error('This agent has no approval modes.');
      this.#printer.note(stateText(approvalMode, sandbox));
      this.#printer.note(`/mode <mode> sets it: ${(approvalModes ?? choices.ApprovalMode).join(', ')}`);
      return;
    }
    const mode = choices.ApprovalMode.find((candidate) => candidate === word);
    if (!mode) throw new Error(`The modes are ${choices.ApprovalMode.join(', ')}.`);
    const before = this.#printCount;
    const { approvalMode, sandbox } = await this.#client.setApprovalMode({ mode });
    // The event of the change may have printed it.
    if (this.#printCount === before) this.#print(stateText(approvalMode, sandbox));
  }

  async #approvals(words: string): Promise<void> {
    const [, verb, rule] = /^(\S+)(?:\s+(.+))?$/.exec(words) ?? [];
    if (verb === undefined || (verb === 'list' && rule === undefined)) {
      const { approvals } = await this.#client.getApprovals();
      this.#printer.note(approvals.length > 0 ? approvals.map(savedText).join('\n') : 'No approvals are saved.');
    } else if (verb === 'remove' && rule !== undefined) {
      await this.#client.removeApproval({ rule });
      this.#printer.note(`Removed ${rule}`);
    } else throw new Error('/approvals lists the saved approvals, /approvals remove <rule> withdraws one.');
  }
}

/** Requests the mode and the sandbox of a chat in a new session. Throws if the session would run in the mode `full`. */
export async function requestChatApprovals(client: BaseClient): Promise<void> {
  try {
    await client.setApprovalMode(CHAT_APPROVALS);
  } catch (error) {
    if (!(error instanceof CommandFailed) || !isUsableAfter(error.code)) throw error;
  }
}

const stateText = (mode: ApprovalMode, sandbox: SandboxState | undefined) =>
  `Approvals: ${mode}.${sandbox ? ` Sandbox: ${sandboxText(sandbox)}.` : ''}`;

function sandboxText({ status, reason, network, writable }: SandboxState): string {
  if (status === 'unavailable') return `none works here${reason ? ` (${reason})` : ''}`;
  if (status !== 'on') return status;
  return ['on', network && `network ${network}`, writable?.length === 0 && 'no folder is writable']
    .filter(Boolean)
    .join(', ');
}

const savedText = ({ rule, scope, at }: SavedApproval) =>
  `  ${rule}  (${scope === 'session' ? 'this session' : 'this project'}${at === undefined ? '' : `, ${at.slice(0, 10)}`})`;
