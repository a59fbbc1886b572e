import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ModelRegistry } from '../../../model/registry/registry.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Dialogs } from '../../dialogs.ts';
import { elicit } from './elicitation.ts';
import { sample } from './sampling.ts';
import { rejection, type ServerRequests } from './server-requests.ts';

// A server may have this many requests waiting for the user, of which one is shown at a time.
const MAX_WAITING_REQUESTS = 5;

// A server may send this many requests to the user within the period.
const MAX_REQUESTS_PER_PERIOD = 30;
const REQUEST_PERIOD_MS = 10 * 60 * 1000;

/** The parts of an agent that the requests of servers use. */
export interface RequestAccess {
  readonly cwd: () => string;
  readonly dialogs: Pick<Dialogs, 'open'>;
  /** Whether the agent has clients at all that could show a dialog. */
  readonly hasClients: boolean;
  /** Whether one of them can show a dialog now. */
  readonly canShowDialogs: () => boolean;
  /** The model of the session. */
  readonly model: () => Model | null | undefined;
  readonly registry: ModelRegistry;
}

/** Handles the requests of one server: roots, input of the user and calls of the model. Refuses a flood of them. */
export function agentRequests(server: string, access: RequestAccess): ServerRequests {
  const { cwd, dialogs, hasClients, canShowDialogs } = access;
  const quota = new RequestQuota();
  return {
    capabilities: {
      roots: { listChanged: true },
      ...(hasClients ? { elicitation: { form: {}, url: {} }, sampling: {} } : {}),
    },
    roots: () => [{ uri: pathToFileURL(cwd()).href, name: basename(cwd()) || 'root' }],
    elicit: async (params, signal) => {
      if (!canShowDialogs()) return { action: 'cancel' };
      return (await quota.run(() => elicit(params, { server, dialogs, signal }))) ?? { action: 'cancel' };
    },
    sample: async (params, signal) => {
      if (!canShowDialogs()) throw rejection('There is no user who could confirm the request');
      const result = await quota.run(() => sample(params, signal, { ...access, server }));
      if (!result) throw rejection('There are too many requests');
      return result;
    },
  };
}

// Runs the requests of one server to the user one after another, and refuses a flood of them.
class RequestQuota {
  readonly #startedAt: number[] = [];
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work when those before it have ended; undefined if the server has sent too many requests. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    const now = Date.now();
    while ((this.#startedAt[0] ?? now) <= now - REQUEST_PERIOD_MS) this.#startedAt.shift();
    if (this.#waiting >= MAX_WAITING_REQUESTS || this.#startedAt.length >= MAX_REQUESTS_PER_PERIOD) return undefined;
    this.#startedAt.push(now);
    this.#waiting++;
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    try {
      return await result;
    } finally {
      this.#waiting--;
    }
  }
}
