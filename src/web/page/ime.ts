/** Whether an input method is composing text, so that keys belong to it. Some browsers report only key code 229. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
