/** The files of a small project with a bug. */
export const project = {
  'package.json': '{\n  "name": "corner-shop",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  'README.md': '# Corner shop\n\nCarts, discounts and receipts.\n',
  'src/cart.js': `/** A line of the cart. */
export const line = (name, price, count = 1) => ({ name, price, count });

export function subtotal(lines) {
  return lines.reduce((sum, { price, count }) => sum + price * count, 0);
}

/** The price to pay, in cents. */
export function total(lines, discounts) {
  let sum = subtotal(lines);
  for (const { percent } of discounts) sum = sum - (sum * percent) / 100;
  return Math.round(sum);
}
`,
  'src/receipt.js': `import { subtotal, total } from './cart.js';

export function receipt(lines, discounts) {
  const rows = lines.map(({ name, price, count }) => \`\${count} x \${name}  \${price * count}\`);
  return [...rows, \`Subtotal  \${subtotal(lines)}\`, \`Total  \${total(lines, discounts)}\`].join('\\n');
}
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line, total } from '../src/cart.js';

test('two discounts add up', () => {
  const lines = [line('bread', 300), line('milk', 100, 2)];
  assert.equal(total(lines, [{ percent: 10 }, { percent: 10 }]), 400);
});
`,
};
