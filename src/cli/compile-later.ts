/** How much a function does before V8 compiles it again, thoroughly; twice as much as usual. */
const INTERRUPT_BUDGET = 300_000;

/** The start is over by then, and nothing of this is part of it. */
const DELAY_MS = 100;

/**
 * Lets V8 wait longer before it optimises. Most of what an agent does is done some hundred times in all: compiling it
 * took nearly half of the processor's time of a turn, in other threads, and was hardly ever worth it.
 */
export function compileLater(): void {
  const set = async () => {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  };
  setTimeout(() => void set(), DELAY_MS).unref();
}
