/** Whether somebody can be talked with here. */
export const hasTerminal = () => process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
