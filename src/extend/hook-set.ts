import type { Continuation } from '../agent/hooks.ts';
import type { SessionHooks } from '../session/hooks.ts';

// In the order in which their hooks are called.
const OWNERS = ['embedder', 'extensions', 'resources', 'mcp', 'todos', 'rules'] as const;

export type HookOwner = (typeof OWNERS)[number];

type Name = keyof SessionHooks;
type Hook<N extends Name> = NonNullable<SessionHooks[N]>;
type Combiners = { readonly [N in Name]: (hooks: readonly Hook<N>[]) => Hook<N> };

/** Combines the hooks of several owners. A hook without owners is absent, so that the agent never waits for it. */
export class HookSet {
  readonly #target: SessionHooks;
  readonly #owned = new Map<HookOwner, SessionHooks>();

  /** `target` is the object that the agent reads; its initial hooks belong to the embedder. */
  constructor(target: SessionHooks) {
    this.#target = target;
    this.#owned.set('embedder', { ...target });
  }

  put(owner: HookOwner, hooks: SessionHooks): void {
    this.#owned.set(owner, hooks);
    const all = OWNERS.flatMap((name) => this.#owned.get(name) ?? []);
    for (const name of Object.keys(combiners) as Name[]) this.#combine(name, all);
  }

  #combine<N extends Name>(name: N, all: readonly SessionHooks[]): void {
    const present = all.flatMap((hooks) => (hooks[name] ? [hooks[name].bind(hooks) as Hook<N>] : []));
    const [only] = present;
    const target = this.#target as { [K in Name]?: Hook<K> };
    if (!only) delete target[name];
    else target[name] = present.length === 1 ? only : combiners[name](present);
  }
}

// Each step receives the result of the one before; undefined if no step changed the subject.
async function chained<T>(subject: T, steps: readonly ((subject: T) => Promise<T | undefined>)[]) {
  let current: T | undefined;
  for (const step of steps) current = (await step(current ?? subject)) ?? current;
  return current;
}

async function firstResult<T>(steps: readonly (() => Promise<T | undefined>)[]): Promise<T | undefined> {
  for (const step of steps) {
    const result = await step();
    if (result !== undefined) return result;
  }
  return undefined;
}

async function runAll<A extends unknown[]>(
  hooks: readonly ((...args: A) => Promise<void>)[],
  ...args: A
): Promise<void> {
  for (const hook of hooks) await hook(...args);
}

// Merges the messages of all steps; one `continue` is enough.
async function mergeContinuations(steps: readonly (() => Promise<Continuation | undefined>)[]) {
  const continuations: Continuation[] = [];
  for (const step of steps) {
    const continuation = await step();
    if (continuation) continuations.push(continuation);
  }
  if (continuations.length === 0) return undefined;
  return {
    messages: continuations.flatMap(({ messages }) => messages ?? []),
    continue: continuations.some((continuation) => continuation.continue === true),
  };
}

const combiners: Combiners = {
  context: (hooks) => async (messages, signal) => {
    const steps = hooks.map((hook) => (current: typeof messages) => hook(current, signal) as Promise<typeof messages>);
    return chained(messages, steps);
  },
  requestContext: (hooks) => (context, signal) =>
    chained(
      context,
      hooks.map((hook) => (current: typeof context) => hook(current, signal)),
    ),
  requestHeaders: (hooks) => (headers, signal) => runAll(hooks, headers, signal),
  responseStart: (hooks) => (response, signal) => runAll(hooks, response, signal),
  streamEvent: (hooks) => (event, signal) => runAll(hooks, event, signal),
  beforeRequest: (hooks) => (request) => chained(request, hooks),
  payload: (hooks) => (payload, signal) =>
    chained(
      payload,
      hooks.map((hook) => (body: unknown) => hook(body, signal)),
    ),
  delta: (hooks) => (step, signal) => {
    for (const [index, hook] of hooks.entries()) {
      const result = hook(step, signal);
      if (result instanceof Promise) {
        const rest = hooks.slice(index + 1).map((other) => async () => other(step, signal));
        return firstResult([() => result, ...rest]);
      }
      if (result) return result;
    }
    return undefined;
  },
  toolCall: (hooks) => async (call, signal) => {
    let args: Record<string, unknown> | undefined;
    for (const hook of hooks) {
      const verdict = await hook(args ? { ...call, arguments: args } : call, signal);
      if (verdict && 'block' in verdict) return verdict;
      args = verdict?.args ?? args;
    }
    return args && { args };
  },
  toolResult: (hooks) => async (ended, signal) => {
    const steps = hooks.map((hook) => (result: typeof ended.result) => hook({ ...ended, result }, signal));
    return chained(ended.result, steps);
  },
  messageEnd: (hooks) => (message, signal) =>
    chained(
      message,
      hooks.map((hook) => (current: typeof message) => hook(current, signal)),
    ),
  turnEnd: (hooks) => (turn, signal) => mergeContinuations(hooks.map((hook) => () => hook(turn, signal))),
  observe: (hooks) => (event, signal) => {
    const [head, ...rest] = hooks;
    const pending = head?.(event, signal);
    if (pending) return pending.then(() => runAll(rest.map((hook) => async () => hook(event, signal))));
    return rest.length === 0 ? undefined : combiners.observe(rest)(event, signal);
  },
  sessionStart: (hooks) => (start) => runAll(hooks, start),
  sessionShutdown: (hooks) => (end) => runAll(hooks, end),
  beforeSwitch: (hooks) => (to, signal) => firstResult(hooks.map((hook) => () => hook(to, signal))),
  beforeFork: (hooks) => (from, signal) => firstResult(hooks.map((hook) => () => hook(from, signal))),
  modelSelect: (hooks) => (choice) => runAll(hooks, choice),
  nameChange: (hooks) => (name) => runAll(hooks, name),
  thinkingLevelSelect: (hooks) => (choice) => runAll(hooks, choice),
  input: (hooks) => async (input, signal) => {
    let current: { text: string; images: typeof input.images } | undefined;
    for (const hook of hooks) {
      const result = await hook({ ...input, ...current }, signal);
      if (result === 'handled') return result;
      current = result ?? current;
    }
    return current;
  },
  expand: (hooks) => (input, signal) =>
    chained(
      input,
      hooks.map((hook) => (current: typeof input) => hook(current, signal)),
    ),
  systemPrompt: (hooks) => (prompt, signal) =>
    chained(
      prompt,
      hooks.map((hook) => (text: string) => hook(text, signal)),
    ),
  beforeAgentStart: (hooks) => async (start, signal) => {
    let { systemPrompt } = start;
    const messages = [];
    for (const hook of hooks) {
      const result = await hook({ ...start, systemPrompt }, signal);
      systemPrompt = result?.systemPrompt ?? systemPrompt;
      messages.push(...(result?.messages ?? []));
    }
    return { messages, ...(systemPrompt === start.systemPrompt ? {} : { systemPrompt }) };
  },
  beforeSettle: (hooks) => (end, signal) => mergeContinuations(hooks.map((hook) => () => hook(end, signal))),
  userBash: (hooks) => (command, signal) => firstResult(hooks.map((hook) => () => hook(command, signal))),
  beforeCompact: (hooks) => (plan, signal) => firstResult(hooks.map((hook) => () => hook(plan, signal))),
  afterCompact: (hooks) => (done) => runAll(hooks, done),
  compactFailed: (hooks) => (failure) => runAll(hooks, failure),
  beforeTree: (hooks) => (plan, signal) => firstResult(hooks.map((hook) => () => hook(plan, signal))),
  afterTree: (hooks) => (done) => runAll(hooks, done),
};
