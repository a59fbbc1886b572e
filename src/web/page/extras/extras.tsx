/** What waits, what extensions show and ask, and how the connection stands: all that is between the conversation and the composer. */
export const Extras = () => null;
