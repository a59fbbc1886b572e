import { UI_METHODS } from '../../fanout/ui-routing.ts';
import type { Subscriber } from '../sessions.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import { Heartbeats } from './subscribers.ts';

interface Preferences {
  readonly ui: readonly string[];
  readonly heartbeatMs: number;
  readonly ids: boolean;
  readonly toolOutput: 'cumulative' | 'both';
}

/** The combined preferences of all clients of a session, as its agent gets them with `hello`. */
export class ClientPreferences {
  /** Whether events carry ids; once requested, they do for clients that resume, too. */
  #hasIds = false;
  /** Whether updates of tools carry deltas; once requested, they do for clients that resume, too. */
  #hasOutputDeltas = false;
  /** The JSON that the agent got last. */
  #sent = '';

  /** The preferences for an agent that has none yet. */
  forNewAgent(attached: ReadonlySet<Subscriber>): Preferences {
    const preferences = this.#combine(attached);
    this.#sent = JSON.stringify(preferences);
    return preferences;
  }

  /** Settles when all further events of the agent carry what this client requested. */
  enableFor({ receivesIds, receivesOutputDeltas }: Subscriber, agent: HostedAgent | undefined): Promise<void> {
    const ids = receivesIds && !this.#hasIds;
    const hasNewDeltas = receivesOutputDeltas && !this.#hasOutputDeltas;
    if (!agent || !(ids || hasNewDeltas)) return Promise.resolve();
    this.#hasIds ||= receivesIds;
    this.#hasOutputDeltas ||= receivesOutputDeltas;
    const changes = { ...(ids ? { ids } : {}), ...(hasNewDeltas ? { toolOutput: 'both' } : {}) };
    return new Promise((resolve) => agent.request({ type: 'hello', ...changes }, { onResponse: () => resolve() }));
  }

  /** The preferences if they differ from those that the agent has. */
  takeChanged(attached: ReadonlySet<Subscriber>): Preferences | undefined {
    const before = this.#sent;
    const preferences = this.forNewAgent(attached);
    return this.#sent === before ? undefined : preferences;
  }

  #combine(attached: ReadonlySet<Subscriber>): Preferences {
    this.#hasIds ||= [...attached].some(({ receivesIds }) => receivesIds);
    this.#hasOutputDeltas ||= [...attached].some(({ receivesOutputDeltas }) => receivesOutputDeltas);
    return {
      ui: agentUiMethods(attached),
      heartbeatMs: Heartbeats.intervalFor(attached),
      ids: this.#hasIds,
      toolOutput: this.#hasOutputDeltas ? 'both' : 'cumulative',
    };
  }
}

/** The combined preference for the agent: all methods, unless every client that may answer supports none. */
export function agentUiMethods(attached: Iterable<Subscriber>): readonly string[] {
  const answering = [...attached].filter((subscriber) => subscriber.canAnswerDialogs);
  return answering.length > 0 && answering.every(({ ui }) => ui?.length === 0) ? [] : UI_METHODS;
}
