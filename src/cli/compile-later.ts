// Bytecode executed before V8 optimises a function; twice the default.
const INTERRUPT_BUDGET = 300_000;

// Keeps this work out of the start-up time.
const DELAY_MS = 100;

/**
 * Delays V8's optimisation. Most functions of an agent run a few hundred times: optimising them took nearly half of the
 * CPU time of a turn and was rarely worth it.
 */
export function compileLater(): void {
  const set = async () => {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  };
  setTimeout(() => void set(), DELAY_MS).unref();
}
