import type { Continuation } from '../agent/hooks.ts';
import type { SessionHooks } from '../session/hooks.ts';

/** Who may step in, in the order in which they are asked. */
const OWNERS = ['embedder', 'extensions', 'resources', 'todos', 'rules'] as const;

export type HookOwner = (typeof OWNERS)[number];

type Name = keyof SessionHooks;
type Hook<N extends Name> = NonNullable<SessionHooks[N]>;
type Join = { readonly [N in Name]: (hooks: readonly Hook<N>[]) => Hook<N> };

/** The hooks of several owners as one. Where nobody listens there is no hook, so that nothing waits for it. */
export class HookSet {
  readonly #target: SessionHooks;
  readonly #owned = new Map<HookOwner, SessionHooks>();

  /** `target`: what the agent looks at; what it holds already is the embedder's. */
  constructor(target: SessionHooks) {
    this.#target = target;
    this.#owned.set('embedder', { ...target });
  }

  put(owner: HookOwner, hooks: SessionHooks): void {
    this.#owned.set(owner, hooks);
    const all = OWNERS.flatMap((name) => this.#owned.get(name) ?? []);
    for (const name of Object.keys(joins) as Name[]) this.#combine(name, all);
  }

  #combine<N extends Name>(name: N, all: readonly SessionHooks[]): void {
    const present = all.flatMap((hooks) => (hooks[name] ? [hooks[name].bind(hooks) as Hook<N>] : []));
    const [only] = present;
    const target = this.#target as { [K in Name]?: Hook<K> };
    if (!only) delete target[name];
    else target[name] = present.length === 1 ? only : joins[name](present);
  }
}

/** Each sees what the one before it made of the subject; undefined when nobody changed it. */
async function chained<T>(subject: T, steps: readonly ((subject: T) => Promise<T | undefined>)[]) {
  let current: T | undefined;
  for (const step of steps) current = (await step(current ?? subject)) ?? current;
  return current;
}

/** The first that has something to say is right. */
async function first<T>(steps: readonly (() => Promise<T | undefined>)[]): Promise<T | undefined> {
  for (const step of steps) {
    const answer = await step();
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function each<A extends unknown[]>(hooks: readonly ((...args: A) => Promise<void>)[], ...args: A): Promise<void> {
  for (const hook of hooks) await hook(...args);
}

/** What several want said and done is all said and done. */
async function together(steps: readonly (() => Promise<Continuation | undefined>)[]) {
  const wishes: Continuation[] = [];
  for (const step of steps) {
    const wish = await step();
    if (wish) wishes.push(wish);
  }
  if (wishes.length === 0) return undefined;
  return {
    messages: wishes.flatMap(({ messages }) => messages ?? []),
    continue: wishes.some((wish) => wish.continue === true),
  };
}

const joins: Join = {
  context: (hooks) => async (messages, signal) => {
    const steps = hooks.map((hook) => (said: typeof messages) => hook(said, signal) as Promise<typeof messages>);
    return chained(messages, steps);
  },
  beforeRequest: (hooks) => (request) => chained(request, hooks),
  payload: (hooks) => (payload, signal) =>
    chained(
      payload,
      hooks.map((hook) => (body: unknown) => hook(body, signal)),
    ),
  delta: (hooks) => (step, signal) => {
    for (const [index, hook] of hooks.entries()) {
      const answer = hook(step, signal);
      if (answer instanceof Promise) {
        const rest = hooks.slice(index + 1).map((other) => async () => other(step, signal));
        return first([() => answer, ...rest]);
      }
      if (answer) return answer;
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
      hooks.map((hook) => (said: typeof message) => hook(said, signal)),
    ),
  turnEnd: (hooks) => (turn, signal) => together(hooks.map((hook) => () => hook(turn, signal))),
  observe: (hooks) => (event, signal) => {
    const [head, ...rest] = hooks;
    const heard = head?.(event, signal);
    if (heard) return heard.then(() => each(rest.map((hook) => async () => hook(event, signal))));
    return rest.length === 0 ? undefined : joins.observe(rest)(event, signal);
  },
  sessionStart: (hooks) => (start) => each(hooks, start),
  sessionShutdown: (hooks) => (end) => each(hooks, end),
  beforeSwitch: (hooks) => (to, signal) => first(hooks.map((hook) => () => hook(to, signal))),
  beforeFork: (hooks) => (from, signal) => first(hooks.map((hook) => () => hook(from, signal))),
  modelSelect: (hooks) => (choice) => each(hooks, choice),
  nameChange: (hooks) => (name) => each(hooks, name),
  thinkingLevelSelect: (hooks) => (choice) => each(hooks, choice),
  input: (hooks) => async (input, signal) => {
    let current: { text: string; images: typeof input.images } | undefined;
    for (const hook of hooks) {
      const answer = await hook({ ...input, ...current }, signal);
      if (answer === 'handled') return answer;
      current = answer ?? current;
    }
    return current;
  },
  expand: (hooks) => (input, signal) =>
    chained(
      input,
      hooks.map((hook) => (said: typeof input) => hook(said, signal)),
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
      const wish = await hook({ ...start, systemPrompt }, signal);
      systemPrompt = wish?.systemPrompt ?? systemPrompt;
      messages.push(...(wish?.messages ?? []));
    }
    return { messages, ...(systemPrompt === start.systemPrompt ? {} : { systemPrompt }) };
  },
  beforeSettle: (hooks) => (end, signal) => together(hooks.map((hook) => () => hook(end, signal))),
  userBash: (hooks) => (command, signal) => first(hooks.map((hook) => () => hook(command, signal))),
  beforeCompact: (hooks) => (plan, signal) => first(hooks.map((hook) => () => hook(plan, signal))),
  afterCompact: (hooks) => (done) => each(hooks, done),
  compactFailed: (hooks) => (failure) => each(hooks, failure),
  beforeTree: (hooks) => (plan, signal) => first(hooks.map((hook) => () => hook(plan, signal))),
  afterTree: (hooks) => (done) => each(hooks, done),
};
