import './sign-in.css';

import { ViewportError } from '../../src/client/public.js';
import { send } from '../../src/client/request.js';
import { button, element } from '../map/dom/element.js';
import { credentialHeaders, storeCredential, storedCredential } from './credential.js';
import { pathOf } from './server.js';
import { isSignedIn, VIEWER, type Viewer } from './viewer.js';

/** Asks who the sender of a credential is. Rejects with ViewportError. */
export async function readViewer(secret = storedCredential()): Promise<Viewer> {
  const options = { url: pathOf('graphql'), headers: credentialHeaders(secret) };
  const { data } = await send(options, VIEWER, {});
  return (data as { readonly viewer: Viewer }).viewer;
}

/** What a viewer may do, a line for each rule. */
function permissionsOf({ may }: Viewer): HTMLElement {
  const lines = may.map(({ collections, actions, filtered }) => {
    const what = `${actions.join(', ')}${filtered ? ', only some of the places' : ''}`;
    return element('li', {}, element('b', {}, collections.join(', ')), `: ${what}`);
  });
  return lines.length > 0 ? element('ul', {}, ...lines) : element('p', {}, 'You have no permissions here.');
}

/** Messages of the server begin with a small letter. */
const sentence = (message: string) => message.charAt(0).toUpperCase() + message.slice(1);

const changeTo = (secret: string | undefined) => {
  storeCredential(secret);
  // Nothing that was loaded for someone else is kept.
  location.reload();
};

/** What the dialog says about someone, above the form. */
function introduction(viewer: Viewer | undefined): HTMLElement[] {
  if (viewer === undefined) return [];
  const { name, roles } = viewer;
  const who = isSignedIn(viewer) ? `You are ${name} (${roles.join(', ') || 'no role'}).` : 'You are not signed in.';
  return [element('p', {}, `${who} Allowed:`), permissionsOf(viewer)];
}

/**
 * Shows who is signed in and what they may do, if that is known, and asks for an API key or a token; `reason` says why.
 * The page is loaded again with another one. Does nothing while the dialog is open.
 */
export function showSignIn(viewer: Viewer | undefined, reason = ''): void {
  if (document.querySelector('dialog.sign-in')) return;
  const dialog = element('dialog', { class: 'panel sign-in', 'aria-labelledby': 'sign-in-title' });
  const fault = element('p', { class: 'fault', role: 'alert' }, sentence(reason));
  const secret = element('input', { type: 'password', required: '', autocomplete: 'off', spellcheck: 'false' });
  const submit = element('button', { class: 'act', type: 'submit' }, 'Sign in');
  const isOther = viewer !== undefined && isSignedIn(viewer);
  const signOut = button({}, () => changeTo(undefined), 'Sign out');
  const form = element(
    'form',
    {},
    element('label', {}, isOther ? 'Another API key or token' : 'API key or token', secret),
    fault,
    element(
      'div',
      { class: 'buttons' },
      ...(storedCredential() === undefined ? [] : [signOut]),
      button({}, () => dialog.close(), 'Close'),
      submit,
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit.disabled = true;
    const given = secret.value.trim();
    readViewer(given)
      .then(() => changeTo(given))
      .catch((error: unknown) => {
        submit.disabled = false;
        fault.textContent = sentence(error instanceof ViewportError ? error.message : String(error));
      });
  });
  const title = isOther ? 'Signed in' : 'Sign in';
  dialog.append(element('h2', { id: 'sign-in-title' }, title), ...introduction(viewer), form);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  secret.focus();
}
