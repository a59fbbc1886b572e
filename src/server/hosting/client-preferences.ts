import { UI_METHODS } from '../../fanout/ui-routing.ts';
import type { Subscriber } from '../sessions.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import { Heartbeats } from './subscribers.ts';

interface Preferences {
  readonly ui: readonly string[];
  readonly heartbeatMs: number;
  readonly ids: boolean;
}

/** The combined preferences of all clients of a session, as its agent gets them with `hello`. */
export class ClientPreferences {
  /** Whether events carry ids; once requested, they do for clients that resume, too. */
  #hasIds = false;
  /** The JSON that the agent got last. */
  #sent = '';

  /** The preferences for an agent that has none yet. */
  forNewAgent(attached: ReadonlySet<Subscriber>): Preferences {
    const preferences = this.#combine(attached);
    this.#sent = JSON.stringify(preferences);
    return preferences;
  }

  /** Settles when all further events of the agent carry ids. */
  enableIds(agent: HostedAgent | undefined): Promise<void> {
    if (this.#hasIds || !agent) return Promise.resolve();
    this.#hasIds = true;
    return new Promise((resolve) => agent.request({ type: 'hello', ids: true }, { onResponse: () => resolve() }));
  }

  /** The preferences if they differ from those that the agent has. */
  takeChanged(attached: ReadonlySet<Subscriber>): Preferences | undefined {
    const before = this.#sent;
    const preferences = this.forNewAgent(attached);
    return this.#sent === before ? undefined : preferences;
  }

  #combine(attached: ReadonlySet<Subscriber>): Preferences {
    this.#hasIds ||= [...attached].some(({ receivesIds }) => receivesIds);
    return { ui: agentUiMethods(attached), heartbeatMs: Heartbeats.intervalFor(attached), ids: this.#hasIds };
  }
}

/** The combined preference for the agent: all methods, unless every client that may answer supports none. */
export function agentUiMethods(attached: Iterable<Subscriber>): readonly string[] {
  const answering = [...attached].filter((subscriber) => subscriber.canAnswerDialogs);
  return answering.length > 0 && answering.every(({ ui }) => ui?.length === 0) ? [] : UI_METHODS;
}
