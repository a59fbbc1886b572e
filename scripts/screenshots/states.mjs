import { chatting, failing, held, mending, QUESTION, thorough } from './model-scripts.mjs';

const composer = (page) => page.getByRole('textbox', { name: 'Message', exact: true });

async function submitPrompt(page, text) {
  await composer(page).fill(text);
  await page.keyboard.press('Enter');
}

/** Sends a prompt and waits until the page shows this text. */
async function promptAndWait(page, text, words) {
  await submitPrompt(page, text);
  await page.getByText(words).last().waitFor();
}

/** Waits until the page shows this text and its fonts are loaded. */
const waitForText = (words) => async (page) => {
  await page.getByText(words).last().waitFor();
  await page.evaluate(() => document.fonts.ready);
};

const DEPLOY_EXTENSION = `export default (pi) => {
  pi.registerCommand('deploy', {
    description: 'Put the shop on the server',
    handler: async (args, ctx) => {
      ctx.ui.setStatus('branch', 'main, 2 commits ahead');
      ctx.ui.setWidget('checks', ['lint   ok', 'types  ok', 'tests  12 passed']);
      await ctx.ui.select('Where should this go?', ['staging', 'production', 'nowhere'], { timeout: 3_600_000 });
    },
  });
};`;

/** Each state: `prepare` reaches it once, `pose` arranges each window before its screenshot. */
export const states = {
  login: { isLoggedOut: true, pose: waitForText('Log in') },

  welcome: { prepare: waitForText('Add a key'), pose: waitForText('Add a key') },

  work: {
    script: mending,
    prepare: (page) => promptAndWait(page, QUESTION, 'Should discounts of'),
    pose: waitForText('Should discounts of'),
  },

  folded: {
    script: thorough,
    prepare: (page) => promptAndWait(page, QUESTION, 'Should discounts of'),
    pose: async (page, { size }) => {
      await waitForText('Should discounts of')(page);
      const fold = page.getByRole('button', { name: /^\d+ steps/ });
      await fold.waitFor();
      if (size === 'tablet') await fold.click();
    },
  },

  running: {
    script: held,
    prepare: async (page) => {
      await promptAndWait(page, QUESTION, 'ok 6 - cart 6');
      await submitPrompt(page, 'And check the receipt, too');
      await page.getByText('And check the receipt, too').waitFor();
    },
    pose: waitForText('ok 6 - cart 6'),
  },

  dialog: {
    script: chatting,
    extension: DEPLOY_EXTENSION,
    prepare: async (page) => {
      await promptAndWait(page, 'Where are prices added up?', 'takes the discounts off');
      await promptAndWait(page, '/deploy', 'Where should this go?');
    },
    pose: waitForText('Where should this go?'),
  },

  models: {
    script: mending,
    prepare: (page) => promptAndWait(page, QUESTION, 'Should discounts of'),
    pose: async (page) => {
      await waitForText('Should discounts of')(page);
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
  },

  sessions: {
    script: chatting,
    prepare: async (page) => {
      for (const question of ['Where are prices added up?', 'Write a test for receipts', 'Why is milk free?']) {
        await promptAndWait(page, question, 'takes the discounts off');
        await page.getByRole('button', { name: 'New session', exact: true }).click();
        await page.waitForURL((url) => !url.search.includes('session='));
      }
      await promptAndWait(page, 'Explain the folder to me', 'takes the discounts off');
    },
    pose: async (page, { size }) => {
      await waitForText('takes the discounts off')(page);
      if (size !== 'phone') return;
      await page.getByRole('button', { name: 'Sessions' }).click();
      await page.getByText('Why is milk free?').waitFor();
    },
  },

  search: {
    script: mending,
    prepare: (page) => promptAndWait(page, QUESTION, 'Should discounts of'),
    pose: async (page) => {
      await waitForText('Should discounts of')(page);
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
    prepare: (page) => promptAndWait(page, QUESTION, 'Should discounts of'),
    pose: async (page, demo) => {
      await waitForText('Should discounts of')(page);
      await demo.kill();
      await page.getByText('Reconnecting…').waitFor();
      await composer(page).fill('Refuse them, please.');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('Not sent yet').waitFor();
      await demo.restart();
    },
  },

  retrying: {
    script: failing,
    prepare: (page) => promptAndWait(page, QUESTION, 'Overloaded'),
    pose: waitForText('Overloaded'),
  },
};
