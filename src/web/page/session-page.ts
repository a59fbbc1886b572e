import { RemoteSession } from '../../client/remote-session.ts';
import { emptyView, reduce, type View } from '../../client/view.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { plainText } from '../code/plain-text.ts';
import { button, element } from '../element.ts';
import { wordsOf } from '../export/session/fields.ts';
import { oneLine } from '../export/words.ts';
import { Composer } from './composer.ts';
import { connectionLine } from './connection-line.ts';
import { Conversation } from './conversation.ts';
import { Dialogs } from './dialogs.ts';
import { loginForm } from './login-form.ts';
import { socketAddress, type Visitor } from './server.ts';
import { Slot } from './slot.ts';

/** The token or the login is not valid, or no longer. */
const INVALID_TOKEN = 1008;

/** How near to its end somebody is who reads the end of the page. */
const AT_BOTTOM_PX = 48;

/** One session: what was said, what it does now, and what can be said to it. All of it comes from the server. */
export class SessionPage {
  readonly #remote: RemoteSession;
  readonly #canPrompt: boolean;
  readonly #conversation = new Conversation();
  readonly #head = new Slot('head');
  readonly #activity = new Slot('activity');
  readonly #notices = new Slot('notices');
  readonly #queue = new Slot('queue');
  readonly #extras = new Slot('extras');
  readonly #connection = new Slot('connection');
  readonly #dialogs = new Dialogs((id, answer) => {
    this.#remote.send({ type: 'extension_ui_response', id, ...answer });
    this.#hear({ type: 'extension_ui_resolved', id });
  });
  readonly #composer = new Composer({
    onSend: (text) => this.#send(text),
    onStop: () => this.#remote.abort().catch((error: unknown) => this.#complain(error)),
  });
  #view: View = emptyView;
  /** Notices that were dismissed: those up to this one. */
  #dismissed: View['notices'][number] | undefined;
  #isDrawing = false;
  #isFollowing = true;

  /** Goes to a session, or makes a new one by this id. */
  constructor({ session, id }: { session?: string | undefined; id?: string | undefined }, { scopes }: Visitor) {
    const address = socketAddress();
    if (id !== undefined) address.searchParams.set('new', id);
    this.#canPrompt = scopes.includes('prompt');
    this.#remote = new RemoteSession(address.href, { session });
    this.#remote.onEvent((event) => this.#hear(event));
    this.#remote.onState(() => this.#drawSoon());
    addEventListener('online', () => this.#remote.retry());
    // What the server does not have yet would be lost with the page.
    addEventListener('beforeunload', (event) => this.#remote.outbox.length > 0 && event.preventDefault());
  }

  open(): void {
    const below = [this.#extras, this.#notices].map(({ place }) => place);
    const foot = element('footer', { class: 'foot' }, ...below, this.#dialogs.place, this.#queue.place);
    this.#connection.place.setAttribute('role', 'status');
    this.#dialogs.place.inert = !this.#canPrompt;
    foot.append(
      this.#connection.place,
      this.#canPrompt ? this.#composer.place : element('p', { class: 'note' }, 'This login may only look.'),
    );
    document.body.replaceChildren(
      this.#head.place,
      element('main', {}, this.#conversation.place, this.#activity.place),
      foot,
    );
    history.scrollRestoration = 'manual';
    addEventListener('scroll', () => {
      this.#isFollowing = innerHeight + scrollY >= document.documentElement.scrollHeight - AT_BOTTOM_PX;
    });
    this.#draw();
  }

  #hear(event: AgentEvent): void {
    this.#view = reduce(this.#view, event);
    if (event.type === 'extension_ui_request' && event.method === 'set_editor_text') this.#composer.text = event.text;
    this.#drawSoon();
  }

  /** While a run is active this steers it. */
  async #send(message: string): Promise<void> {
    this.#isFollowing = true;
    const sent = this.#remote.prompt({ message, streamingBehavior: 'steer' });
    this.#drawSoon();
    try {
      await sent;
    } catch (error) {
      this.#complain(error);
      throw error;
    } finally {
      this.#drawSoon();
    }
  }

  #complain(error: unknown): void {
    this.#hear({ type: 'server_error', error: messageOf(error) });
  }

  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const view = this.#view;
    const { status, outbox } = this.#remote;
    if (status.state === 'closed' && status.code === INVALID_TOKEN) {
      document.body.replaceChildren(loginForm(status.reason));
      return;
    }
    const title = titleOf(view);
    const { cwd, model } = view.state;
    if (view.messages.length > 0) nameInAddress(view.state.sessionId);
    document.title = view.title ?? `${title} · tau`;
    this.#head.draw([title, cwd, model?.id], () => [
      element('a', { attributes: { href: './' } }, 'Sessions'),
      element('h1', {}, ...plainText(title)),
      element('p', { class: 'note' }, ...plainText([model?.name ?? model?.id, cwd].filter(Boolean).join(' · '))),
    ]);
    this.#conversation.draw(view);
    // Without a connection nobody knows what it does.
    const activity = status.state === 'open' ? activityOf(view) : '';
    this.#activity.draw([activity], () => plainText(activity));
    this.#drawFoot(view);
    this.#queue.draw([view.queue, ...outbox.map(({ text, state }) => text + state)], () => [
      ...view.queue.map(({ text }) => queued('Queued', text)),
      ...outbox.map(({ text, state }) => queued(state === 'sent' ? 'Sending' : 'Not sent yet', text)),
    ]);
    this.#connection.draw([status], () => connectionLine(status, () => this.#remote.retry()));
    this.#composer.place.hidden = status.state === 'closed';
    this.#composer.draw({ isRunning: status.state === 'open' && (view.running || view.compacting) });
    if (this.#isFollowing) scrollTo({ top: document.documentElement.scrollHeight });
  }

  #drawFoot({ notices, widgets, statuses, dialogs }: View): void {
    const news = notices.slice(this.#dismissed === undefined ? 0 : notices.lastIndexOf(this.#dismissed) + 1);
    this.#extras.draw([widgets, statuses], () => [
      ...widgets.map(({ lines }) => element('pre', {}, ...plainText(lines.join('\n')))),
      ...statuses.map(({ text }) => element('p', { class: 'note' }, ...plainText(text))),
    ]);
    const dismiss = () => {
      this.#dismissed = notices.at(-1);
      this.#drawSoon();
    };
    this.#notices.draw([notices, this.#dismissed], () =>
      news.length === 0
        ? []
        : [
            ...news.map(({ kind, text }) => element('p', { class: `notice ${kind}` }, ...plainText(text))),
            button('Dismiss', { onClick: dismiss }),
          ],
    );
    this.#dialogs.draw(dialogs);
  }
}

/** A new session has its own address once something is said in it: until then there may be nothing to come back to. */
function nameInAddress(sessionId = ''): void {
  if (new URLSearchParams(location.search).has('session')) return;
  history.replaceState(null, '', `?session=${encodeURIComponent(sessionId)}`);
}

function titleOf({ state, messages }: View): string {
  const first = messages.find(({ role }) => role === 'user') as { content: unknown } | undefined;
  return oneLine(state.sessionName ?? wordsOf(first?.content), 100) || 'New session';
}

function activityOf({ retry, compacting, running }: View): string {
  if (retry) return `Trying again (${retry.attempt} of ${retry.maxAttempts}): ${retry.errorMessage}`;
  if (compacting) return 'Compacting…';
  return running ? 'Working…' : '';
}

const queued = (what: string, text: string) =>
  element('p', {}, element('span', { class: 'note' }, `${what} `), ...plainText(oneLine(text, 200)));
