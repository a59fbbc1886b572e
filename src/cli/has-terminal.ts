/** Whether stdin and stdout are a terminal. */
export const hasTerminal = () => process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
