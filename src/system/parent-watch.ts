/**
 * Calls `onParentExit` once when the process that started this one has died.
 *
 * Does not keep the process alive. A parent that died before the call is not noticed.
 */
export function watchParent(onParentExit: () => void, intervalMs = 1000): { stop(): void } {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onParentExit();
  }, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
