/** How many lines are shown until somebody wants all: a few more are shown rather than hidden behind a button. */
export const atFirst = (count: number, limit: number): number => (count <= limit * 1.5 ? count : limit);
