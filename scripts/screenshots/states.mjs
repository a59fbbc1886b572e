import { chatting, failing, held, mending, QUESTION } from './talks.mjs';

const composer = (page) => page.getByRole('textbox', { name: 'Message', exact: true });

async function say(page, text) {
  await composer(page).fill(text);
  await page.keyboard.press('Enter');
}

/** Says something and waits for these words of the answer. */
async function hear(page, text, words) {
  await say(page, text);
  await page.getByText(words).last().waitFor();
}

/** Until everything that was said is there. */
const settled = (words) => async (page) => {
  await page.getByText(words).last().waitFor();
  await page.evaluate(() => document.fonts.ready);
};

const asking = `export default (pi) => {
  pi.registerCommand('deploy', {
    description: 'Put the shop on the server',
    handler: async (args, ctx) => {
      ctx.ui.setStatus('branch', 'main, 2 commits ahead');
      ctx.ui.setWidget('checks', ['lint   ok', 'types  ok', 'tests  12 passed']);
      await ctx.ui.select('Where should this go?', ['staging', 'production', 'nowhere'], { timeout: 3_600_000 });
    },
  });
};`;

/** How to come to each state, and what to do in each window that looks at it. */
export const states = {
  login: { isStranger: true, pose: settled('Log in') },

  welcome: { prepare: settled('Add a key'), pose: settled('Add a key') },

  work: {
    script: mending,
    prepare: (page) => hear(page, QUESTION, 'Should discounts of'),
    pose: settled('Should discounts of'),
  },

  running: {
    script: held,
    prepare: async (page) => {
      await hear(page, QUESTION, 'ok 6 - cart 6');
      await say(page, 'And check the receipt, too');
      await page.getByText('And check the receipt, too').waitFor();
    },
    pose: settled('ok 6 - cart 6'),
  },

  dialog: {
    script: chatting,
    extension: asking,
    prepare: async (page) => {
      await hear(page, 'Where are prices added up?', 'takes the discounts off');
      await hear(page, '/deploy', 'Where should this go?');
    },
    pose: settled('Where should this go?'),
  },

  models: {
    script: mending,
    prepare: (page) => hear(page, QUESTION, 'Should discounts of'),
    pose: async (page) => {
      await settled('Should discounts of')(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
  },

  sessions: {
    script: chatting,
    prepare: async (page) => {
      for (const question of ['Where are prices added up?', 'Write a test for receipts', 'Why is milk free?']) {
        await hear(page, question, 'takes the discounts off');
        await page.getByRole('button', { name: 'New session', exact: true }).click();
        await page.waitForURL((url) => !url.search.includes('session='));
      }
      await hear(page, 'Explain the folder to me', 'takes the discounts off');
    },
    pose: async (page, { size }) => {
      await settled('takes the discounts off')(page);
      if (size !== 'phone') return;
      await page.getByRole('button', { name: 'Sessions' }).click();
      await page.getByText('Why is milk free?').waitFor();
    },
  },

  search: {
    script: mending,
    prepare: (page) => hear(page, QUESTION, 'Should discounts of'),
    pose: async (page) => {
      await settled('Should discounts of')(page);
      await page.keyboard.press('Control+f');
      await page.keyboard.type('discount');
      await page.keyboard.press('Enter');
      await page
        .getByText(/ of \d+/)
        .first()
        .waitFor();
    },
  },

  reconnecting: {
    script: mending,
    prepare: (page) => hear(page, QUESTION, 'Should discounts of'),
    pose: async (page, demo) => {
      await settled('Should discounts of')(page);
      await demo.kill();
      await page.getByText('Reconnecting…').waitFor();
      await composer(page).fill('Refuse them, please.');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('Not sent yet').waitFor();
      await demo.again();
    },
  },

  retrying: {
    script: failing,
    prepare: (page) => hear(page, QUESTION, 'Overloaded'),
    pose: settled('Overloaded'),
  },
};
