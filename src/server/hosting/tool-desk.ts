import type {
  HostTool,
  HostToolCallEvent,
  HostToolCancelEvent,
  HostToolResult,
} from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Listener, Request } from '../sessions.ts';
import { Answer } from './answer.ts';

const GONE = 'RPC client disconnected before host tool execution completed';

interface Registering {
  readonly ask: (tools: readonly HostTool[], answered: (answer: Answer) => void) => void;
  readonly answered: (answer: Answer) => void;
}

/**
 * Knows which client runs which tool. The agent sees one client that has them all; each call goes to whoever brought its
 * tool last, as one does who comes back before it is noticed that it had gone. The tools of one that has gone stay on
 * offer until somebody brings others, and their calls fail.
 */
export class ToolDesk {
  readonly #sets = new Map<Listener, readonly HostTool[]>();
  readonly #calls = new Map<string, { readonly owner: Listener; readonly toolName: string }>();
  /** Whose tools the agent is being told of, and how often it has not answered yet. */
  #telling: { readonly owner: Listener; count: number } | undefined;
  readonly #waiting: { readonly owner: Listener; readonly begin: () => void }[] = [];
  readonly #here: (listener: Listener) => boolean;

  constructor(here: (listener: Listener) => boolean) {
    this.#here = here;
  }

  /**
   * Registers the tools of a client with the agent, which is told all of them each time. While it has not taken those of
   * another client nobody knows what all of them are.
   */
  register(request: Request, owner: Listener, { ask, answered }: Registering): void {
    const tools = request['tools'] as HostTool[];
    const done = (answer: Answer) => {
      if (answer.success) this.#set(owner, tools);
      answered(answer.success ? Answer.success(request.type, { toolNames: namesOf(tools) }) : answer);
      this.#told();
    };
    const begin = () => {
      this.#telling = { owner, count: 1 + (this.#telling?.count ?? 0) };
      ask(this.#with(owner, tools), done);
    };
    this.#waiting.push({ owner, begin });
    this.#goOn();
  }

  #told(): void {
    if (this.#telling && --this.#telling.count === 0) this.#telling = undefined;
    this.#goOn();
  }

  #goOn(): void {
    const [next] = this.#waiting;
    if (!next || (this.#telling && this.#telling.owner !== next.owner)) return;
    this.#waiting.shift();
    next.begin();
    this.#goOn();
  }

  /** All tools there would be if this client had these: its own first, as it may be told what is wrong with them. */
  #with(owner: Listener, tools: readonly HostTool[]): HostTool[] {
    const others = [...this.#sets].filter(([other]) => other !== owner && this.#here(other)).flatMap(([, set]) => set);
    const taken = new Set(namesOf(tools));
    // Of several who bring the same one, the last counts.
    const kept = others.reverse().filter(({ name }) => !taken.has(name.trim()) && taken.add(name.trim()));
    return [...tools, ...kept.reverse()];
  }

  #set(owner: Listener, tools: readonly HostTool[]): void {
    for (const other of this.#sets.keys()) if (!this.#here(other)) this.#sets.delete(other);
    this.#sets.delete(owner);
    this.#sets.set(owner, tools);
  }

  /** Hands a call to whoever runs the tool; when nobody does, it has failed. */
  call(event: HostToolCallEvent, fail: (failure: HostToolResult) => void): void {
    const has = (set: readonly HostTool[]) => set.some(({ name }) => name.trim() === event.toolName);
    const [owner] = [...this.#sets].findLast(([listener, set]) => has(set) && this.#here(listener)) ?? [];
    if (!owner) {
      fail(failure(event.id, GONE));
      return;
    }
    this.#calls.set(event.id, { owner, toolName: event.toolName });
    owner.tell(event);
  }

  cancel(event: HostToolCancelEvent): void {
    this.#calls.get(event.targetId)?.owner.tell(event);
    this.#calls.delete(event.targetId);
  }

  /** Whether this client runs the call; `isLast`: it says nothing more of it. */
  isFrom(listener: Listener, id: string, { isLast }: { isLast: boolean }): boolean {
    const isIts = this.#calls.get(id)?.owner === listener;
    if (isIts && isLast) this.#calls.delete(id);
    return isIts;
  }

  /** A result that cannot be understood fails its call, if that is this client's. */
  broken(listener: Listener, { id, problem }: MalformedFrame): HostToolResult | undefined {
    const { owner, toolName } = this.#calls.get(id) ?? {};
    if (owner !== listener) return undefined;
    this.#calls.delete(id);
    return failure(id, `Host tool "${toolName}" gave a result that cannot be used: ${problem}`);
  }

  /** A client has gone: what it ran has failed. */
  left(listener: Listener, fail: (failure: HostToolResult) => void): void {
    for (const [id, { owner }] of this.#calls) {
      if (owner !== listener) continue;
      this.#calls.delete(id);
      // It may only have gone to another session.
      owner.tell({ type: 'host_tool_cancel', id: newUuid(), targetId: id });
      fail(failure(id, GONE));
    }
  }

  /** Every tool that is on offer, for an agent that was started again. */
  get all(): HostTool[] {
    const byName = new Map([...this.#sets.values()].flat().map((tool) => [tool.name.trim(), tool]));
    return [...byName.values()];
  }
}

const namesOf = (tools: readonly HostTool[]) => tools.map(({ name }) => name.trim());

const failure = (id: string, text: string): HostToolResult => ({
  type: 'host_tool_result',
  id,
  result: { content: [{ type: 'text', text }] },
  isError: true,
});
