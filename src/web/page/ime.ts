/** Whether letters are being composed: keys belong to that then. Some browsers tell it by a code alone. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
