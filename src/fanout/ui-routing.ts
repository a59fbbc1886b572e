import { dialogMethods, isDialogMethod } from '../protocol/dialog-methods.ts';

/** A client, as far as it shows dialogs and notices of extensions. */
export interface UiClient {
  /** The methods it shows; undefined: it did not report any. */
  readonly ui: readonly string[] | undefined;
  readonly canAnswerDialogs: boolean;
  /** Whether it gets titles if it did not report its methods. */
  readonly receivesTitles: boolean;
}

/** Every method of `extension_ui_request`. */
export const UI_METHODS = [
  ...dialogMethods,
  'notify',
  'setStatus',
  'setWidget',
  'setTitle',
  'set_editor_text',
  'open_url',
] as const;

/** Whether clients that did not report their methods get titles in this environment. */
export const emitsTitles = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !/^\s*(?:0|false|no|off)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');

/** Whether a client shows a method. A client that did not report its methods shows all, titles if the environment allows. */
export const showsMethod = ({ ui, receivesTitles }: Omit<UiClient, 'canAnswerDialogs'>, method: string): boolean =>
  ui?.includes(method) ?? (method !== 'setTitle' || receivesTitles);

/** Whether a client gets a UI request: a dialog only if the client may answer it. */
export const receivesUiRequest = (client: UiClient, method: string): boolean =>
  showsMethod(client, method) && (client.canAnswerDialogs || !isDialogMethod(method));
