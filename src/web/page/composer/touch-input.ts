/** Whether this is used with fingers: there may be no keyboard but the one on the screen. */
export const hasTouchInput = (): boolean => matchMedia('(pointer: coarse)').matches;
