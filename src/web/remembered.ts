/** What this browser keeps for its user. A page may have no storage, or a full one: then it is forgotten. */
export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}

/** Forgets all of it, but what has one of these keys. */
export function forgetAllBut(kept: readonly string[]): void {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith('tau-') && !kept.includes(key));
    for (const key of keys) localStorage.removeItem(key);
  } catch {}
}
