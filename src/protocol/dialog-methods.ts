/** The methods of `extension_ui_request` that wait for an answer. */
export const dialogMethods = ['select', 'confirm', 'input', 'editor'] as const;

export type DialogMethod = (typeof dialogMethods)[number];

/** Whether what is to be shown waits for an answer. */
export const isDialogMethod = (method: string): method is DialogMethod =>
  (dialogMethods as readonly string[]).includes(method);
