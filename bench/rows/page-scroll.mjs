import { SHOWN, withLongPage } from '../support/long-page.mjs';

const FRAMES = 600;

/** Scrolls up a session of 10,000 messages, 300 pixels per frame, while earlier messages load. */
export const pageScroll = {
  name: 'page-scroll',
  rounds: 5,

  samplers(workspace) {
    return { up: () => withLongPage(workspace, scrolled) };
  },

  rows({ up }) {
    return [
      { what: 'time of a frame, p95', unit: 'ms', value: up.p95, limit: { value: 50 } },
      { what: 'the longest', unit: 'ms', value: up.longest },
    ];
  },
};

async function scrolled(page, { home, query }) {
  await page.goto(home + query);
  await page.evaluate(SHOWN);
  return page.evaluate(`(async () => {
    const list = document.querySelector('.list');
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    for (let last = await frame(), count = 0; count < ${FRAMES}; count++) {
      list.scrollTop -= 300;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    times.sort((a, b) => a - b);
    return { p95: times[Math.floor(times.length * 0.95)], longest: times.at(-1) };
  })()`);
}
