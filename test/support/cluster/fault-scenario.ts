import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFailed } from 'vitest';
import { WebSocket } from 'ws';
import type { RemoteOptions } from '../../../src/client/remote/remote-session.ts';
import type { OpenSocket } from '../../../src/client/remote/socket.ts';
import type { ConversationView } from '../../../src/client/view/view.ts';
import type { WireRecord } from '../clients/peer.ts';
import { type Fault, pickFault, type Random } from '../faults/faults.ts';
import { ReferenceClient } from '../faults/reference-client.ts';
import { type Accepted, retryUntilCertain } from '../faults/testbed.ts';
import { waitUntil } from '../processes/processes.ts';
import { TARGET_TOKEN } from '../server/attack-target.ts';
import { type AuditedLogs, auditFile, auditLogs, auditReceived } from './audit.ts';
import type { DisturbedNode } from './disturbed-node.ts';

const SESSIONS = 5;
const CLIENTS_PER_SESSION = 3;
const MAX_MESSAGES_PER_ROUND = 4;

// How long the clients may take to have the same state after the faults.
const CONVERGENCE_MS = 90_000;

const reconnection = { maxRetries: Number.MAX_SAFE_INTEGER, initialDelayMs: 30, maxDelayMs: 300, backoffMultiplier: 2 };

/** Responses of the model: some call a tool, all take some time. */
export const FAULT_SCRIPT: readonly object[] = [
  ...Array.from({ length: 1000 }, (_, number) => ({
    when: `^${number} tool`,
    steps: [
      { text: 'I need a tool. ', chunks: 4, delayMs: 10 },
      { toolCall: { name: 'bash', arguments: { command: `echo ${number}; sleep 0.2` } } },
    ],
  })),
  {
    text: 'An answer that takes some time to arrive, in a number of pieces.',
    chunks: 12,
    delayMs: 10,
    when: '.',
    keep: true,
  },
];

interface ScenarioOptions {
  readonly nodes: readonly DisturbedNode[];
  /** The addresses of the NATS servers, without proxies. */
  readonly servers: readonly string[];
  readonly faults: readonly Fault[];
  readonly random: Random;
}

interface Message {
  readonly clientMessageId: string;
  readonly session: number;
  accepted?: Accepted;
}

/** Clients that talk in several sessions while faults are injected, each connecting to any node that responds. */
export class FaultScenario {
  readonly #options: ScenarioOptions;
  readonly #sessions: readonly string[] = Array.from({ length: SESSIONS }, () => randomUUID());
  readonly #clients: readonly (readonly ReferenceClient[])[];
  readonly #messages: Message[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  readonly #history: string[] = [];

  constructor(options: ScenarioOptions) {
    this.#options = options;
    this.#clients = this.#sessions.map((id) =>
      Array.from({ length: CLIENTS_PER_SESSION }, () => this.#connectClient(id)),
    );
    onTestFailed(() => void process.stderr.write(`${this.#history.join('\n')}\n`));
  }

  /** Sends messages, injects a fault meanwhile, and waits until it is over. */
  async runRound(round: number): Promise<void> {
    const { random, faults } = this.#options;
    const count = 1 + random(MAX_MESSAGES_PER_ROUND);
    for (let index = 0; index < count; index++) this.#send(`${round} ${random(2) ? 'tool' : 'text'} ${index}`);
    const [[observer]] = this.#clients as readonly [readonly [ReferenceClient]];
    await observer.waitBriefly(random(30), random(3000));
    const fault = pickFault(faults, random);
    this.#log(`round ${round}: ${fault.name}`);
    await fault.inject(random);
    this.#log('over');
  }

  /** After all faults: nothing acknowledged is lost or doubled, and all clients have the same views as new ones. */
  async check(): Promise<void> {
    this.#log('check');
    await Promise.all(this.#pending);
    this.#log('all messages are accepted');
    for (const session of this.#sessions.keys()) await this.#settle(session);
    this.#log('all sessions are idle');
    for (const session of this.#sessions.keys()) await this.#expectSameViews(session);
    for (const node of this.#options.nodes) await node.whenClean();
    const logs = await auditLogs(this.#options.servers);
    for (const session of this.#sessions.keys()) this.#auditSession(logs, session);
  }

  get messageCount(): number {
    return this.#messages.length;
  }

  #send(text: string): void {
    const { random } = this.#options;
    const session = random(SESSIONS);
    const client = this.#clients[session]?.[random(CLIENTS_PER_SESSION)] as ReferenceClient;
    const type = (['prompt', 'prompt', 'steer', 'follow_up'] as const)[random(4)] ?? 'prompt';
    const sent = this.#sendUntilAccepted(client, { session, type, text });
    this.#pending.add(sent);
    void sent.finally(() => this.#pending.delete(sent)).catch(() => {});
  }

  async #sendUntilAccepted(
    client: ReferenceClient,
    { session, type, text }: { session: number; type: 'prompt' | 'steer' | 'follow_up'; text: string },
  ): Promise<Accepted> {
    const message: Message = { clientMessageId: randomUUID(), session };
    this.#messages.push(message);
    const busy = type === 'prompt' ? { streamingBehavior: 'followUp' } : {};
    const params = { message: text, clientMessageId: message.clientMessageId, ...busy };
    message.accepted = await retryUntilCertain(() => client.session.call(type, params));
    this.#log(`${session} ${type} "${text}" ${JSON.stringify(message.accepted)}`);
    return message.accepted;
  }

  /** Waits until the session is idle and its queue, which may have been restored, is empty. */
  async #settle(session: number): Promise<void> {
    const [client] = this.#clients[session] as [ReferenceClient];
    const state = () => retryUntilCertain(() => client.session.getState());
    for (let tries = 0; ; tries++) {
      await waitUntil(async () => (await state()).isIdle, CONVERGENCE_MS);
      if ((await state()).pendingMessageCount === 0) return;
      await this.#sendUntilAccepted(client, { session, type: 'prompt', text: `0 again ${tries}` });
    }
  }

  async #expectSameViews(session: number): Promise<void> {
    const fresh = this.#connectClient(this.#sessions[session] ?? '');
    await retryUntilCertain(() => fresh.session.getState());
    for (const [index, client] of (this.#clients[session] ?? []).entries()) {
      const views = async () => {
        for (const one of [fresh, client]) await retryUntilCertain(() => one.session.getState());
        return [comparable(client.view), comparable(fresh.view)] as const;
      };
      await waitUntil(async () => isDeepStrictEqual(...(await views())), CONVERGENCE_MS).catch(() => {});
      const [seen, expected] = await views();
      expect(seen, `client ${index} of session ${session}`).toEqual(expected);
    }
    fresh.session.close();
  }

  #auditSession(logs: AuditedLogs, session: number): void {
    const log = logs.get(this.#sessions[session] ?? '');
    const owner = log?.records.findLast(({ kind }) => kind === 'claim')?.writer.name;
    const node = this.#options.nodes.find(({ name }) => name === owner);
    if (log && node) auditFile(log, node.home);
    const stored = (log?.entries ?? []).flatMap(({ clientMessageId }) => clientMessageId ?? []);
    const sent = this.#messages.filter((message) => message.session === session);
    expect(stored.toSorted()).toEqual(sent.map(({ clientMessageId }) => clientMessageId).toSorted());
    for (const client of this.#clients[session] ?? [])
      auditReceived(logs, client.audited as unknown as readonly WireRecord[]);
    const begun = new Set(log?.runs.flatMap(({ running }) => running?.runId ?? []));
    const ended = new Set(log?.runs.flatMap((runs) => runs.ended.map(({ settled }) => settled.runId)));
    expect([...begun].filter((runId) => !ended.has(runId))).toEqual([]);
    for (const { accepted } of sent)
      if (accepted?.runId !== undefined) expect(ended.has(accepted.runId), accepted.runId).toBe(true);
  }

  #connectClient(session: string): ReferenceClient {
    const { nodes, random } = this.#options;
    let next = random(nodes.length);
    const openSocket: OpenSocket = (url) => {
      const address = new URL(url);
      address.port = String(nodes[next++ % nodes.length]?.port);
      const socket = new WebSocket(address);
      return socket as unknown as ReturnType<OpenSocket>;
    };
    const options: RemoteOptions = { reconnection, openSocket };
    const query = new URLSearchParams({ token: TARGET_TOKEN, new: session });
    const client = new ReferenceClient(`ws://127.0.0.1:${nodes[0]?.port}/session?${query}`, options);
    client.session.onState((status) => {
      if (status.state === 'closed' && status.code !== undefined)
        this.#log(`a client of ${session} was closed: ${JSON.stringify(status)}`);
    });
    return client;
  }

  #log(text: string): void {
    const line = `${performance.now().toFixed(0)} ${text}`;
    this.#history.push(line);
    if (process.env['FAULT_LOG']) process.stderr.write(`${line}\n`);
  }
}

/** A view without what a snapshot does not repeat. */
function comparable({ notices: _, unconfirmed: __, ...view }: ConversationView): unknown {
  return JSON.parse(JSON.stringify(view));
}
