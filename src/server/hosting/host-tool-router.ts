import type {
  HostTool,
  HostToolCallEvent,
  HostToolCancelEvent,
  HostToolResult,
} from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import { AgentResponse } from '../agent-response.ts';
import type { CommandRequest, Subscriber } from '../sessions.ts';

const CLIENT_DISCONNECTED = 'RPC client disconnected before host tool execution completed';

interface Registration {
  readonly sendToAgent: (tools: readonly HostTool[], onResponse: (response: AgentResponse) => void) => void;
  readonly onResponse: (response: AgentResponse) => void;
}

/**
 * Routes host tool calls to the client that registered the tool.
 *
 * The agent sees one client with all tools. Calls go to the client that registered the tool last: a reconnecting client
 * may arrive before its old connection is known to be dead. Tools of a closed client stay registered until the next
 * registration, and their calls fail.
 */
export class HostToolRouter {
  readonly #sets = new Map<Subscriber, readonly HostTool[]>();
  readonly #calls = new Map<string, { readonly owner: Subscriber; readonly toolName: string }>();
  /** The client whose registration is in progress, and its pending requests. */
  #registering: { readonly owner: Subscriber; count: number } | undefined;
  readonly #queued: { readonly owner: Subscriber; readonly begin: () => void }[] = [];
  readonly #isAttached: (subscriber: Subscriber) => boolean;

  constructor(isAttached: (subscriber: Subscriber) => boolean) {
    this.#isAttached = isAttached;
  }

  /**
   * Registers the tools of a client together with those of all others. Registrations of different clients run one after
   * another, because each contains the result of the previous one.
   */
  register(request: CommandRequest, owner: Subscriber, { sendToAgent, onResponse }: Registration): void {
    const tools = request['tools'] as HostTool[];
    const done = (response: AgentResponse) => {
      if (response.success) this.#set(owner, tools);
      onResponse(response.success ? AgentResponse.success(request.type, { toolNames: namesOf(tools) }) : response);
      this.#registrationDone();
    };
    const begin = () => {
      this.#registering = { owner, count: 1 + (this.#registering?.count ?? 0) };
      sendToAgent(this.#merged(owner, tools), done);
    };
    this.#queued.push({ owner, begin });
    this.#registerNext();
  }

  #registrationDone(): void {
    if (this.#registering && --this.#registering.count === 0) this.#registering = undefined;
    this.#registerNext();
  }

  #registerNext(): void {
    const [next] = this.#queued;
    if (!next || (this.#registering && this.#registering.owner !== next.owner)) return;
    this.#queued.shift();
    next.begin();
    this.#registerNext();
  }

  /** The tools of all clients if this one had these. Its own come first, so that validation errors point at them. */
  #merged(owner: Subscriber, tools: readonly HostTool[]): HostTool[] {
    const others = [...this.#sets]
      .filter(([other]) => other !== owner && this.#isAttached(other))
      .flatMap(([, set]) => set);
    const taken = new Set(namesOf(tools));
    // The last registration of a name counts.
    const kept = others.reverse().filter(({ name }) => !taken.has(name.trim()) && taken.add(name.trim()));
    return [...tools, ...kept.reverse()];
  }

  #set(owner: Subscriber, tools: readonly HostTool[]): void {
    for (const other of this.#sets.keys()) if (!this.#isAttached(other)) this.#sets.delete(other);
    this.#sets.delete(owner);
    this.#sets.set(owner, tools);
  }

  /** Sends a call to the client with the tool; without one, the call fails. */
  call(event: HostToolCallEvent, fail: (failure: HostToolResult) => void): void {
    const has = (set: readonly HostTool[]) => set.some(({ name }) => name.trim() === event.toolName);
    const [owner] = [...this.#sets].findLast(([subscriber, set]) => has(set) && this.#isAttached(subscriber)) ?? [];
    if (!owner) {
      fail(failure(event.id, CLIENT_DISCONNECTED));
      return;
    }
    this.#calls.set(event.id, { owner, toolName: event.toolName });
    owner.sendPrivate(event);
  }

  cancel(event: HostToolCancelEvent): void {
    this.#calls.get(event.targetId)?.owner.sendPrivate(event);
    this.#calls.delete(event.targetId);
  }

  /** Whether this client runs the call. `isLast` ends the call. */
  ownsCall(subscriber: Subscriber, id: string, { isLast }: { isLast: boolean }): boolean {
    const isOwner = this.#calls.get(id)?.owner === subscriber;
    if (isOwner && isLast) this.#calls.delete(id);
    return isOwner;
  }

  /** A malformed result fails its call if this client runs it. */
  failMalformed(subscriber: Subscriber, { id, problem }: MalformedFrame): HostToolResult | undefined {
    const { owner, toolName } = this.#calls.get(id) ?? {};
    if (owner !== subscriber) return undefined;
    this.#calls.delete(id);
    return failure(id, `Host tool "${toolName}" gave a result that cannot be used: ${problem}`);
  }

  /** Fails the calls of a detached client. */
  detach(subscriber: Subscriber, fail: (failure: HostToolResult) => void): void {
    for (const [id, { owner }] of this.#calls) {
      if (owner !== subscriber) continue;
      this.#calls.delete(id);
      // The client may only have moved to another session.
      owner.sendPrivate({ type: 'host_tool_cancel', id: newUuid(), targetId: id });
      fail(failure(id, CLIENT_DISCONNECTED));
    }
  }

  /** All registered tools, for a restarted agent. */
  get allTools(): HostTool[] {
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
