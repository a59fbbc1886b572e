import type { AgentEvent, BashCommand, SessionState } from '../../protocol/generated/vocabulary.ts';
import type { Answer } from './answer.ts';
import type { Audience } from './audience.ts';
import type { Briefing } from './briefing.ts';
import type { DialogDesk } from './dialog-desk.ts';
import type { EntryFeed } from './entry-feed.ts';
import { Heartbeats } from './heartbeats.ts';
import type { HostedAgent } from './hosted-agent.ts';
import { InOrder } from './in-order.ts';
import type { Journal } from './journal.ts';
import type { RunWatch } from './run-watch.ts';
import { SessionRecord } from './session-record.ts';
import type { Told } from './told.ts';
import type { ToolDesk } from './tool-desk.ts';

interface Parts {
  readonly journal: Journal;
  readonly audience: Audience;
  readonly briefing: Briefing;
  readonly runs: RunWatch;
  readonly said: Told;
  readonly tools: ToolDesk;
  readonly dialogs: DialogDesk;
  readonly entries: EntryFeed;
  readonly agent: () => HostedAgent | undefined;
  /** The agent is in another session. */
  readonly entered: (state: SessionState) => void;
  /** There may be nothing to do any more. */
  readonly rest: () => void;
  /** Nothing can be kept any more. */
  readonly broken: (error: unknown) => void;
  readonly stumbled: (error: unknown) => void;
}

/** What happens in a session, from what the agent says to everybody who hears it, in one order. */
export class SessionEvents {
  readonly #parts: Parts;
  readonly #inOrder: InOrder;
  readonly #beats = new Heartbeats();
  /** What everybody was told to run in the shell. */
  #runningBash = 'null';
  /** Something was said of which no event tells. */
  #isUntold = false;

  constructor(parts: Parts) {
    const { journal, broken, stumbled } = parts;
    this.#parts = parts;
    this.#inOrder = new InOrder({ append: (texts) => journal.append(texts), broken, stumbled });
  }

  /** Does something behind everything that was said before. */
  inTurn(take: () => void): void {
    this.#inOrder.push({ take });
  }

  /** Takes what the agent says. */
  hear(event: AgentEvent, text: string): void {
    const inTurn = (take: () => void) => this.inTurn(take);
    if (event.type === 'ready') return;
    if (event.type === 'heartbeat') inTurn(() => this.#beats.pass(event, this.#parts.audience.listeners));
    else if (event.type === 'host_tool_call')
      inTurn(() => this.#parts.tools.call(event, (failure) => this.#parts.agent()?.tell(failure)));
    else if (event.type === 'host_tool_cancel') inTurn(() => this.#parts.tools.cancel(event));
    else if (event.type === 'bash_execution_update') {
      const { asker, name } = this.#parts.agent()?.askerOf(event.id) ?? {};
      inTurn(() => asker?.tell(name === undefined ? { ...event, id: undefined } : { ...event, id: name }));
    } else if (event.type === 'entry_appended') {
      const recipient = this.#parts.entries.recipientOf(event);
      if (recipient === 'everybody') this.#keep(event, text);
      else inTurn(() => (recipient.entries ? recipient.hear(new SessionRecord(event, { text })) : undefined));
    } else this.#keep(event, text);
  }

  #publish(event: AgentEvent): void {
    this.#keep(event, JSON.stringify(event));
  }

  #keep(event: AgentEvent, text: string): void {
    this.#inOrder.push({ keep: text, take: (seq = 0) => this.#happened(event, { seq, text }) });
  }

  #happened(event: AgentEvent, told: { seq: number; text: string }): void {
    this.#parts.runs.hear(event, told.seq);
    this.#parts.said.hear(event);
    this.#parts.audience.publish(event, told);
    if (event.type === 'agent_start' && !this.#parts.runs.isKnown) this.#learnRun();
    if (event.type === 'agent_settled') this.#settled();
    if (event.type === 'extension_ui_request')
      this.#parts.dialogs.look(this.#parts.audience.situation.dialogs, this.#parts.audience.listeners);
    if (event.type === 'compaction_end' && event.result) this.#parts.briefing.renew();
    if (event.type === 'state_changed') this.#changed(event.state);
  }

  /** The agent went to another session by itself, or its conversation goes on from another entry. */
  #changed({ sessionId, messageCount }: Readonly<Record<string, unknown>>): void {
    if (typeof messageCount === 'number') this.#parts.said.upTo(messageCount);
    if (typeof sessionId === 'string') this.#moved();
    else if (typeof messageCount === 'number') this.#parts.briefing.renew();
  }

  /** What a command prints is for whoever has given it; that it runs, for everybody. */
  runsInShell(): void {
    const answered = (answer: Answer) => {
      if (answer.success) this.#tellShell((answer.data() as SessionState).runningBash);
    };
    this.#parts.agent()?.ask({ type: 'get_state' }, { answered });
  }

  #tellShell(running: readonly BashCommand[] | undefined): void {
    const runningBash = running ?? null;
    const text = JSON.stringify(runningBash);
    if (text === this.#runningBash) return;
    this.#runningBash = text;
    this.#publish({ type: 'state_changed', state: { runningBash } });
  }

  /** No event tells of what users run in the shell: everybody is told the conversation, as soon as it is part of it. */
  ranInShell(): void {
    this.runsInShell();
    this.#isUntold = this.#parts.runs.isActive;
    if (!this.#isUntold) this.#parts.briefing.renew();
  }

  /** A message that is part of the conversation already is said once more: its run had not begun. */
  saysAgain(): void {
    this.#parts.said.again();
    this.#parts.briefing.renew();
  }

  #settled(): void {
    if (this.#isUntold) this.#parts.briefing.renew();
    this.#isUntold = false;
    this.#parts.rest();
  }

  /** An extension has opened a run: nobody was told its id. */
  #learnRun(): void {
    const answered = (answer: Answer) => {
      const { runId } = answer.success ? (answer.data() as SessionState) : {};
      if (runId !== undefined) this.#parts.runs.goesOn(runId);
    };
    this.#parts.agent()?.ask({ type: 'get_state' }, { answered });
  }

  /** Everybody goes along. */
  #moved(): void {
    this.#parts.entries.reset();
    this.#parts.audience.entriesEnd();
    this.#parts.briefing.move(({ state }) => {
      this.#parts.runs.enter(state.sessionId);
      this.#parts.entered(state);
    });
  }

  /** Ends what was under way, as the agent would have. Settles when everybody was told. */
  cutOff(how: string): Promise<void> {
    this.#publish({ type: 'server_error', error: how });
    const { situation } = this.#parts.audience;
    return new Promise((resolve) => {
      const end = () => {
        const wasWorking = situation.isWorking;
        for (const id of [...situation.dialogs.keys()]) this.resolve(id, 'abort');
        const settled = this.#parts.runs.cutOff();
        const { compaction } = situation;
        situation.clear();
        for (const request of situation.takenBack()) this.#publish(request);
        if (compaction)
          this.#publish({ ...compaction, type: 'compaction_end', result: null, aborted: true, willRetry: false });
        if (wasWorking) this.#publish({ type: 'agent_end', messages: [], willRetry: false, isTerminal: true });
        if (settled) this.#publish(settled);
        this.#tellShell(undefined);
        this.#inOrder.push({ take: () => resolve() });
      };
      this.#inOrder.push({ take: end });
    });
  }

  /** A dialog is over, and the agent does not tell. */
  resolve(id: string, by: string): void {
    if (this.#parts.audience.situation.dialogs.delete(id)) this.#publish({ type: 'extension_ui_resolved', id, by });
  }
}
