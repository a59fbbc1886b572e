import { AgentClient } from '../client/agent-client.ts';
import type { UiAnswer } from '../client/ui-requests.ts';
import type { Agent } from '../engine/agent.ts';
import { ClientConnection } from '../engine/client-connection.ts';
import { dispatch } from '../engine/dispatch.ts';
import type { ExtensionUi } from '../extend/extensions/api/ui.ts';
import { dialogMethods } from '../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../protocol/generated/vocabulary.ts';
import { memoryPair } from '../wire/memory.ts';

type UiMethod =
  | 'select'
  | 'confirm'
  | 'input'
  | 'editor'
  | 'notify'
  | 'setStatus'
  | 'setWidget'
  | 'setTitle'
  | 'setEditorText';

/** The UI methods that the embedding program implements for extensions. */
export type ExtensionUIContext = Partial<Pick<ExtensionUi, UiMethod>>;

const METHODS: Readonly<Record<UiMethod, ExtensionUiRequestEvent['method']>> = {
  select: 'select',
  confirm: 'confirm',
  input: 'input',
  editor: 'editor',
  notify: 'notify',
  setStatus: 'setStatus',
  setWidget: 'setWidget',
  setTitle: 'setTitle',
  setEditorText: 'set_editor_text',
};

/** The embedding program as a client of its agent; it supports no UI until `bind`. */
export class EmbedderUi {
  readonly connection: ClientConnection;
  readonly #agent: Agent;
  readonly #client: AgentClient;
  #unbind: () => void = () => {};

  constructor(agent: Agent) {
    const [inside, outside] = memoryPair();
    this.#agent = agent;
    this.#client = new AgentClient(outside);
    this.connection = new ClientConnection(inside, {}, { isLastClient: true });
    this.connection.capabilities.ui = [];
    this.connection.receive((line) => dispatch(line, { agent, connection: this.connection, lane: agent.lane }));
    agent.clients.add(this.connection);
  }

  /** Sets the implementation of dialogs, or removes it. */
  bind(ui: ExtensionUIContext | undefined): void {
    this.#unbind();
    this.connection.capabilities.ui = supportedMethods(ui);
    this.#unbind = ui ? this.#client.onUiRequest((request, { signal }) => show(ui, request, signal)) : () => {};
    this.#agent.addons.loaded?.dialogs.clientsChanged();
  }

  close(): void {
    this.#agent.clients.delete(this.connection);
    this.connection.close();
    this.#client.close();
  }
}

/** If any method is supported, so are all dialogs: no other client could answer those that the program cancels. */
function supportedMethods(ui: ExtensionUIContext | undefined): string[] {
  const supported = (Object.keys(METHODS) as UiMethod[]).filter((name) => typeof ui?.[name] === 'function');
  const methods = supported.map((name): string => METHODS[name]);
  // An address is shown as a notice.
  if (methods.includes('notify')) methods.push('open_url');
  return methods.length === 0 ? [] : [...new Set([...dialogMethods, ...methods])];
}

async function show(ui: ExtensionUIContext, request: ExtensionUiRequestEvent, signal: AbortSignal): Promise<UiAnswer> {
  const options = { signal };
  switch (request.method) {
    case 'select':
      return ui.select?.(request.title, request.options, options);
    case 'confirm':
      return ui.confirm?.(request.title, request.message, options);
    case 'input':
      return ui.input?.(request.title, request.placeholder, options);
    case 'editor':
      return ui.editor?.(request.title, request.prefill);
    case 'notify':
      ui.notify?.(request.message, request.notifyType);
      return undefined;
    case 'setStatus':
      ui.setStatus?.(request.statusKey, request.statusText);
      return undefined;
    case 'setWidget': {
      const { widgetKey, widgetLines, widgetPlacement: placement } = request;
      ui.setWidget?.(widgetKey, widgetLines, placement === undefined ? {} : { placement });
      return undefined;
    }
    case 'setTitle':
      ui.setTitle?.(request.title);
      return undefined;
    case 'set_editor_text':
      ui.setEditorText?.(request.text);
      return undefined;
    case 'open_url':
      ui.notify?.([request.instructions, request.url].filter(Boolean).join('\n'), 'info');
      return undefined;
    default:
      return request satisfies never;
  }
}
