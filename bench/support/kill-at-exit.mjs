const pids = new Set();

process.on('exit', () => {
  for (const pid of pids) kill(pid);
});

// Without a handler these signals end the process without its exit handlers.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Kills a process when the benchmark ends, also by a signal or an error; call the returned function when the process has ended. */
export function killAtExit(pid) {
  pids.add(pid);
  return () => pids.delete(pid);
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
