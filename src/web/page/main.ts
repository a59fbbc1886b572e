import { applyTheme, storedTheme } from '../theme.ts';
import { authenticate } from './server-api.ts';

applyTheme(storedTheme());
// The request for the login travels while the browser loads the rest of the page.
const login = authenticate();
login.catch(() => {});
const { startPage } = await import('./page.tsx');
startPage(login);
