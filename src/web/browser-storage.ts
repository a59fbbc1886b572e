/** Reads and writes the settings that this browser keeps; a missing or full storage is ignored. */
export function readStored(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}

/** Removes all stored settings except these keys. */
export function clearStoredExcept(kept: readonly string[]): void {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith('tau-') && !kept.includes(key));
    for (const key of keys) localStorage.removeItem(key);
  } catch {}
}
