import { withPage } from '../support/browser.mjs';
import { withServer } from '../support/server.mjs';

const paragraph = `${'Something is said in this paragraph that goes on for a while. '.repeat(6)}\n\n`;
const piece = `${paragraph}- a point\n- another **point**\n\n\`\`\`ts\nexport const a = 1;\n\`\`\`\n\n`;
const bash = { toolCall: { name: 'bash', arguments: { command: 'seq 1 40' } } };

/** Layout shifts while a response with code, lists and tools streams into the page. */
export const pageShift = {
  name: 'page-shift',
  rounds: 5,

  samplers(workspace) {
    const answers = [
      { steps: [{ thinking: paragraph }, { text: piece.repeat(10), delayMs: 1 }, bash] },
      { steps: [{ text: piece.repeat(10), delayMs: 1 }] },
    ];
    const script = workspace.file('shift.jsonl', answers.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return {
      written: () =>
        withServer(workspace, { script }, ({ loginLink }) => withPage(loginLink, (page) => written(page, loginLink))),
    };
  },

  rows({ written }) {
    return [
      { what: 'sum of layout shifts', unit: '', value: written.shift, limit: { value: 0.01 } },
      { what: 'time of a frame meanwhile, p95', unit: 'ms', value: written.p95, limit: { value: 50 } },
    ];
  },
};

async function written(page, loginLink) {
  await page.goto(loginLink.split('#')[0]);
  await page.getByRole('textbox', { name: 'Message' }).fill('go');
  await page.evaluate(`globalThis.shifts = []; globalThis.times = [];
    new PerformanceObserver((seen) => shifts.push(...seen.getEntries())).observe({ type: 'layout-shift' });
    const look = (last) => requestAnimationFrame((now) => { times.push(now - last); look(now); });
    look(performance.now());`);
  await page.keyboard.press('Enter');
  await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
  return page.evaluate(`({
    shift: shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0),
    p95: times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)],
  })`);
}
