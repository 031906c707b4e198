import { createElement } from 'react';

import { showSignIn } from '../access/sign-in.js';
import { isAsked, isSignedIn, type Viewer } from '../access/viewer.js';

interface Props {
  /** Undefined if the server does not say. */
  readonly viewer: Viewer | undefined;
  /** Why it answers nobody without another credential. */
  readonly refusal: string | undefined;
}

/** A button that says who is signed in; nothing on a server that does not ask. */
export function SignedIn({ viewer, refusal }: Props) {
  if (refusal === undefined && (viewer === undefined || !isAsked(viewer))) return null;
  const text = viewer !== undefined && isSignedIn(viewer) ? `Signed in as ${viewer.name}` : 'Sign in';
  return createElement(
    'button',
    { type: 'button', className: 'signed-in', onClick: () => showSignIn(viewer, refusal) },
    text,
  );
}
