const NAME = 'cellport-credential';

/** The API key or token of this tab; undefined if nobody is signed in. */
export function storedCredential(): string | undefined {
  try {
    return sessionStorage.getItem(NAME) ?? undefined;
  } catch {
    // The browser keeps nothing for this page.
    return undefined;
  }
}

/** Keeps an API key or token until its tab is closed; undefined forgets it. Throws if the browser keeps nothing. */
export function storeCredential(secret: string | undefined): void {
  if (secret === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, secret);
}

/** The headers that sign a request in. */
export function credentialHeaders(secret = storedCredential()): Readonly<Record<string, string>> {
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
}
