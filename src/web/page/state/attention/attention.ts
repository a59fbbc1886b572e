import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { RecentIds } from '../../../../client/recent-ids.ts';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { isDialogMethod } from '../../../../protocol/dialog-methods.ts';
import type {
  AgentEvent,
  AgentSettledEvent,
  ExtensionUiRequestEvent,
} from '../../../../protocol/generated/vocabulary.ts';
import { visibleText } from '../../../code/hidden-characters.ts';
import { oneLine } from '../../../format.ts';
import { isVisible } from '../browser-signals.ts';
import type { LiveSession } from '../live-session.ts';
import { SystemNotices } from './system-notices.ts';
import { TabPresence } from './tab-presence.ts';

const MAX_TAB_TITLE = 100;

const isDialog = (event: ExtensionUiRequestEvent): event is OpenDialog => isDialogMethod(event.method);

interface AttentionSources {
  readonly session: ReadonlySignal<LiveSession | undefined>;
  /** The title of the open session. */
  readonly title: ReadonlySignal<string>;
  /** Other sessions that wait for an answer. */
  readonly waiting: ReadonlySignal<readonly unknown[]>;
}

/**
 * Notifies the user about run ends and dialogs of a hidden tab, and about other sessions that wait: by tab title, icon
 * and system notices.
 */
export class Attention {
  readonly systemNotices = new SystemNotices();
  readonly #session: ReadonlySignal<LiveSession | undefined>;
  readonly #title: ReadonlySignal<string>;
  readonly #presence: TabPresence;
  /** Ids of ended runs and open dialogs that the user has not seen. */
  readonly #unseen = signal<ReadonlySet<string>>(new Set());
  /** A reconnect sends open dialogs again; each is announced once. */
  readonly #announcedDialogs = new RecentIds();

  constructor({ session, title, waiting }: AttentionSources) {
    this.#session = session;
    this.#presence = new TabPresence(session);
    const extensionTitle = computed(() => session.value?.view.value.title);
    this.#title = computed(() => visibleText(session.value ? tabTitle(extensionTitle.value, title.value) : 'tau'));
    const count = computed(() => this.#unseen.value.size + waiting.value.length);
    const icon = new PageIcon();
    effect(() => {
      this.#unseen.value = new Set();
      return session.value?.remote.onEvent((event) => void this.#handleEvent(event));
    });
    effect(() => {
      if (isVisible.value) this.#unseen.value = new Set();
    });
    effect(() => {
      document.title = count.value > 0 ? `(${count.value}) ${this.#title.value}` : this.#title.value;
      icon.show({ hasNews: count.value > 0 });
    });
  }

  async #handleEvent(event: AgentEvent): Promise<void> {
    // The user who aborted a run knows that it ended.
    if (event.type === 'agent_settled' && !event.aborted) await this.#notify(event.runId, outcomeText(event));
    if (event.type === 'extension_ui_resolved') this.#markSeen(event.id);
    if (event.type === 'extension_ui_request' && isDialog(event) && !this.#announcedDialogs.has(event.id)) {
      this.#announcedDialogs.add(event.id);
      await this.#notify(event.id, `Waits for an answer: ${event.title}`);
    }
  }

  async #notify(id: string, text: string): Promise<void> {
    const session = this.#session.value;
    if ((await this.#presence.isViewed()) || !session || session !== this.#session.value) return;
    this.#unseen.value = new Set([...this.#unseen.value, id]);
    this.systemNotices.show({
      title: this.#title.peek(),
      body: visibleText(oneLine(text, MAX_TAB_TITLE * 2)),
      topic: session.latestId,
    });
  }

  #markSeen(id: string): void {
    this.#unseen.value = new Set([...this.#unseen.value].filter((other) => other !== id));
  }
}

/** The title set by an extension takes precedence over the session title. */
const tabTitle = (extensionTitle: string | undefined, title: string): string =>
  extensionTitle ? oneLine(extensionTitle, MAX_TAB_TITLE) : `${title} · tau`;

function outcomeText({ outcome, errorMessage }: AgentSettledEvent): string {
  if (outcome === 'error') return `Failed: ${errorMessage ?? 'the run ended with an error'}`;
  return outcome === 'budget' ? 'Stopped at a limit' : 'Done';
}

// Adds a dot to the icon of the page while there is something unseen.
class PageIcon {
  readonly #link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  readonly #plain = this.#link?.href ?? '';

  show({ hasNews }: { readonly hasNews: boolean }): void {
    const dot = "%3Ccircle cx='12' cy='4' r='4' fill='%23e5484d'/%3E";
    const end = '%3C/svg%3E';
    if (this.#link) this.#link.href = hasNews ? this.#plain.replace(end, dot + end) : this.#plain;
  }
}
