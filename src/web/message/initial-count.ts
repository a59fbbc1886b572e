/** The number of items to show at first: slightly longer lists are not cut. */
export const initialCount = (count: number, limit: number): number => (count <= limit * 1.5 ? count : limit);
