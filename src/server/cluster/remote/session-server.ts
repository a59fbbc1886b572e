import { Refusal } from '../../../protocol/errors.ts';
import type { Frame, Moved } from '../../../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../../../wire/inbound.ts';
import { AgentResponse } from '../../agent-response.ts';
import type { LocalSessions } from '../../hosting/local-sessions.ts';
import type {
  Access,
  AttachOptions,
  CommandRequest,
  SessionHandle,
  SessionTarget,
  StopExtent,
} from '../../sessions.ts';
import { sessionIdIn } from '../cluster-index.ts';
import { ExportedPages } from './export-transfer.ts';
import type { Channel, ChannelMessage } from './node-channel.ts';
import { RecordBundler, RemoteSubscriber } from './remote-subscriber.ts';
import type { SubscriberTraits } from './subscriber-traits.ts';

interface Attached {
  readonly subscriber: RemoteSubscriber;
  readonly handle: SessionHandle;
  readonly pages: ExportedPages;
}

interface SessionServerOptions {
  /** Makes the folder of a session whose own node is away. */
  readonly prepare: (target: SessionTarget) => Promise<void>;
  /** Returns a path for a page that is soon removed. */
  readonly newExportPath: () => string;
}

/** Serves the sessions of this node to clients of other nodes. */
export class SessionServer {
  readonly #sessions: LocalSessions;
  readonly #options: SessionServerOptions;
  readonly #attached = new WeakMap<Channel, Map<number, Attached>>();
  readonly #bundlers = new WeakMap<Channel, RecordBundler>();

  constructor(sessions: LocalSessions, options: SessionServerOptions) {
    this.#sessions = sessions;
    this.#options = options;
  }

  /** Handles a message of another node; returns whether it was one for a server. */
  handle(message: ChannelMessage, channel: Channel): boolean {
    const { k } = message;
    const id = Number(message['h']);
    const one = this.#of(channel).get(id);
    if (k === 'open') void this.#open(message, { id, channel });
    else if (k === 'request') void this.#request(message, channel);
    else if (k === 'close') void this.#close(id, channel, message['isSessionSwitch'] === true);
    else if (!HANDLE_MESSAGES.has(k)) return false;
    else if (one) this.#forHandle(one, message, { id, channel });
    return true;
  }

  /** The other node is gone: its clients leave. */
  onClose(channel: Channel): void {
    const attached = this.#of(channel);
    this.#attached.delete(channel);
    for (const { handle, pages } of attached.values()) {
      void handle.close();
      void pages.removeAll();
    }
  }

  #forHandle({ handle, subscriber, pages }: Attached, message: ChannelMessage, { id, channel }: Client): void {
    const { k } = message;
    if (k === 'attach') void this.#attach(handle, message['options'] as AttachOptions, { id, channel });
    else if (k === 'send') this.#send({ handle, pages }, message, { id, channel });
    else if (k === 'pull') void this.#sendPiece(pages, message, { id, channel });
    else if (k === 'discard') void pages.remove(Number(message['r']));
    else if (k === 'frame') handle.sendFrame(message['frame'] as Frame);
    else if (k === 'malformed') handle.sendMalformedFrame(message['frame'] as MalformedFrame);
    else if (k === 'replay') handle.replayOutput();
    else if (k === 'follow') handle.followEntries();
    else {
      subscriber.traits = message['traits'] as SubscriberTraits;
      if (k === 'preferences') handle.updatePreferences();
      else handle.continueReads();
    }
  }

  async #open(message: ChannelMessage, { id, channel }: Client): Promise<void> {
    const bundler = this.#bundlers.get(channel) ?? new RecordBundler(channel);
    this.#bundlers.set(channel, bundler);
    const subscriber = new RemoteSubscriber(id, { traits: message['traits'] as SubscriberTraits, channel, bundler });
    try {
      const target = message['target'] as SessionTarget;
      if (message['isPrepared'] === true) await this.#options.prepare(target);
      const handle = await this.#sessions.open(target, subscriber);
      if (channel.isClosed) {
        void handle.close();
        return;
      }
      subscriber.onDeleted = () => void handle.close();
      this.#of(channel).set(id, { handle, subscriber, pages: new ExportedPages(this.#options.newExportPath) });
      channel.send({ k: 'opened', to: id, sessionId: handle.sessionId, cwd: handle.cwd });
    } catch (error) {
      channel.send({ k: 'failed', to: id, ...refusalFields(error) });
    }
  }

  async #attach(handle: SessionHandle, options: AttachOptions, { id, channel }: Client): Promise<void> {
    try {
      await handle.attach(options);
      channel.send({ k: 'attached', to: id, sessionId: handle.sessionId, cwd: handle.cwd });
    } catch (error) {
      channel.send({ k: 'failed', to: id, ...refusalFields(error) });
    }
  }

  #send({ handle, pages }: Pick<Attached, 'handle' | 'pages'>, message: ChannelMessage, { id, channel }: Client): void {
    const request = message['request'] as CommandRequest;
    const r = Number(message['r']);
    const respond = (response: AgentResponse) => {
      this.#bundlers.get(channel)?.flush();
      channel.send({ k: 'response', to: id, r, text: response.toText(RESPONSE_ID) });
    };
    if (request.type === 'export_html')
      // The page is for the other node, which has the path that the client chose.
      handle.send({ ...request, outputPath: pages.create(r) }, (response) => {
        if (!response.success) void pages.remove(r);
        respond(response);
      });
    else if (request['detached'] !== true) handle.send(request, respond);
    else
      void this.#move(handle, request, respond).catch((error: unknown) =>
        respond(AgentResponse.refusal(request.type, Refusal.from(error))),
      );
  }

  /** Another session is checked or created by the agent: its file has another path on this node. */
  async #move(handle: SessionHandle, request: CommandRequest, respond: (response: AgentResponse) => void) {
    const { sessionPath } = request;
    const id = typeof sessionPath === 'string' ? sessionIdIn(sessionPath) : '';
    const path = id === '' ? undefined : await this.#sessions.fileFor({ kind: 'new', id, cwd: handle.cwd });
    const own = path === undefined ? request : { ...request, sessionPath: path };
    const response = await new Promise<AgentResponse>((resolve) => handle.send(own, resolve));
    if (response.success && request.type !== 'switch_session') await this.#adopt(handle, response);
    const isOpenHere = !response.success && response.record()['code'] === 'session_in_use' && this.#sessions.has(id);
    const found = { cancelled: false, sessionId: id, sessionFile: path };
    respond(isOpenHere ? AgentResponse.success(request.type, found) : response);
  }

  async #sendPiece(pages: ExportedPages, { r, from }: ChannelMessage, { id, channel }: Client): Promise<void> {
    try {
      const bytes = await pages.read(Number(r), Number(from));
      channel.send({ k: 'piece', to: id, r, data: Buffer.from(bytes).toString('base64') });
    } catch (error) {
      channel.send({ k: 'piece', to: id, r, ...refusalFields(error) });
    }
  }

  /** The agent created a session beside its own: it must be in the log before a client receives its name. */
  async #adopt(handle: SessionHandle, response: AgentResponse): Promise<void> {
    const { cancelled, sessionId: id, sessionFile: path } = response.data() as Partial<Moved>;
    if (cancelled === false && id !== undefined && path !== undefined)
      await this.#sessions.adopt({ kind: 'stored', id, path, cwd: handle.cwd });
  }

  async #request(message: ChannelMessage, channel: Channel): Promise<void> {
    const target = message['target'] as SessionTarget;
    const reply = (value: unknown) => channel.send({ k: 'reply', r: message['r'], value });
    try {
      const request = message['request'] as CommandRequest;
      const options = message['options'] as { startsAgent: boolean } | undefined;
      if (message['prewarm'] !== undefined) reply(await this.#sessions.prewarm(target, message['prewarm'] as Access));
      else if (message['request'] === undefined)
        reply(await this.#sessions.release(target, message['stop'] as StopExtent | undefined));
      else reply((await this.#sessions.request(target, request, options))?.toText(RESPONSE_ID));
    } catch (error) {
      channel.send({ k: 'reply', r: message['r'], failure: refusalFields(error) });
    }
  }

  async #close(id: number, channel: Channel, isSessionSwitch: boolean): Promise<void> {
    const attached = this.#of(channel).get(id);
    this.#of(channel).delete(id);
    await Promise.all([attached?.handle.close({ isSessionSwitch }), attached?.pages.removeAll()]);
    channel.send({ k: 'closed', to: id });
  }

  #of(channel: Channel): Map<number, Attached> {
    const known = this.#attached.get(channel) ?? new Map<number, Attached>();
    this.#attached.set(channel, known);
    return known;
  }
}

interface Client {
  readonly id: number;
  readonly channel: Channel;
}

/** Stands for the id of the client in a response between nodes. */
export const RESPONSE_ID = '0';

const HANDLE_MESSAGES: ReadonlySet<string> = new Set([
  'attach',
  'send',
  'pull',
  'discard',
  'frame',
  'malformed',
  'replay',
  'follow',
  'preferences',
  'reads',
]);

const refusalFields = (error: unknown) => {
  const { message, code } = Refusal.from(error);
  return { message, code };
};
