import { showSignIn } from '../../access/sign-in.js';
import { isAsked, isSignedIn } from '../../access/viewer.js';
import { currentViewer } from '../api/permissions.js';
import { byId } from '../dom/element.js';

/** The button that says who is signed in, on servers that ask. Returns a function that draws it again. */
export function createWho(): () => void {
  const who = byId('who');
  who.addEventListener('click', () => showSignIn(currentViewer()));
  return () => {
    const viewer = currentViewer();
    who.hidden = !isAsked(viewer);
    const name = isSignedIn(viewer) ? viewer.name : null;
    who.textContent = name ?? 'Sign in';
    who.title = name === null ? 'Sign in with an API key or a token' : `Signed in as ${name}: see what you may do`;
  };
}
