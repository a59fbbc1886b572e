/** Whether the primary pointer is a finger: there may be no hardware keyboard. */
export const hasTouchInput = (): boolean => matchMedia('(pointer: coarse)').matches;
