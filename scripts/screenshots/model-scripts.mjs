const call = (name, args) => ({ toolCall: { name, arguments: args } });
const spent = (input, output) => ({ usage: { input, output, cacheRead: Math.round(input * 0.8) } });

const OLD =
  '  let sum = subtotal(lines);\n  for (const { percent } of discounts) sum = sum - (sum * percent) / 100;\n  return Math.round(sum);';
const NEW =
  '  const percent = discounts.reduce((sum, discount) => sum + discount.percent, 0);\n  const share = Math.max(0, 100 - percent) / 100;\n  return Math.round(subtotal(lines) * share);';

export const QUESTION = 'Two discounts of 10% should take 20% off, but the total is too high. Find out why and fix it.';

const ANSWER = `The discounts **compounded**: the second one was taken from what the first had left over.

| discounts | before | now |
|---|---:|---:|
| none | 500 | 500 |
| 10% | 450 | 450 |
| 10% and 10% | 405 | **400** |

\`total\` now adds the percentages up first, and never goes below zero:

\`\`\`js
const percent = discounts.reduce((sum, discount) => sum + discount.percent, 0);
const share = Math.max(0, 100 - percent) / 100;
\`\`\`

- The test in \`test/cart.test.js\` passes.
- \`src/receipt.js\` needs no change: it only calls \`total\`.

Should discounts of **more than 100%** be refused instead of making the cart free?`;

/** The model finds a bug and fixes it. */
export const mending = [
  {
    steps: [
      {
        thinking:
          'The total is too high with two discounts. Probably each is applied to what the last one left. Let me find where discounts are used, and look at the function that adds them up before I touch anything.',
      },
      { text: 'Let me find where discounts are applied.' },
      call('grep', { pattern: 'discount|percent', path: 'src' }),
      call('read', { path: 'src/cart.js' }),
      spent(3200, 140),
    ],
  },
  {
    steps: [
      {
        text: 'Each discount is taken from what the one before has left, so 10% and 10% make 19%. They should add up.',
      },
      call('edit', { path: 'src/cart.js', edits: [{ oldText: OLD, newText: NEW }] }),
      spent(4100, 260),
    ],
  },
  { steps: [call('bash', { command: 'npm test --silent' }), spent(4500, 60)] },
  { steps: [{ text: ANSWER }, spent(5200, 310)] },
];

/** The same with a test that fails at first: enough steps to fold. */
export const thorough = [
  mending[0],
  { steps: [{ text: 'The tests first: they should fail.' }, call('bash', { command: 'exit 1' }), spent(3900, 40)] },
  ...mending.slice(1),
];

/** The same, stopped at a gate while the tests run. */
export const held = [
  ...mending.slice(0, 2),
  {
    steps: [
      { text: 'Now the tests, all of them.' },
      call('bash', {
        command:
          'for n in 1 2 3 4 5 6; do echo "ok $n - cart $n"; done; while [ ! -e %ROOT%/gate ]; do sleep 0.2; done',
      }),
      spent(4500, 60),
    ],
  },
  { text: 'All of them pass.' },
];

/** A model call that fails and is retried after a delay. */
export const failing = [
  mending[0],
  { steps: [{ text: 'Well, ' }, { error: { status: 529, message: 'Overloaded', retryAfterMs: 55_000 } }] },
];

/** A conversation of many short turns. */
export const chatting = [
  { text: 'That is in `src/cart.js`: `subtotal` adds up the lines, `total` takes the discounts off.' },
  { repeat: true },
];
