type Dealer = (error: unknown) => boolean;

const dealers = new Set<Dealer>();

/**
 * Lets somebody look at what nobody caught before it ends the process. Where they know whose it is, and that it hurts
 * nobody else, they answer true, and the process lives on. The returned function ends that.
 */
export function onStrayError(dealer: Dealer): () => void {
  if (dealers.size === 0) for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, deal);
  dealers.add(dealer);
  return () => {
    dealers.delete(dealer);
    if (dealers.size === 0) for (const event of ['uncaughtException', 'unhandledRejection']) process.off(event, deal);
  };
}

function deal(error: unknown): void {
  if ([...dealers].some((dealer) => dealer(error))) return;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
