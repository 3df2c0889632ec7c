/**
 * The token that the server wants with every question. The address that uopviz prints has it; from
 * there it goes to the storage of this origin, which no other port of the machine can read (cookies
 * they can), so that reloads, links and further tabs have it too. Never leaves it in the address.
 */
const KEY = "uopviz-token";
const PARAMETER = "token";

/** The token as it is now: another tab may have brought the one of a server started anew. */
export function startToken(): () => string {
  const address = new URL(location.href);
  let own = address.searchParams.get(PARAMETER) ?? "";
  if (own) {
    store(own);
    address.searchParams.delete(PARAMETER);
    history.replaceState(history.state, "", address.pathname + address.search + address.hash);
  }
  return () => (own = stored() ?? own);
}

/** Forgets the token that the address has: another program may have seen it. */
export function dropToken(): void {
  history.replaceState(history.state, "", location.pathname + location.hash);
  store("");
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is switched off: the token lasts until the page is left
  }
}

function store(token: string): void {
  try {
    localStorage.setItem(KEY, token);
  } catch {
    // See above.
  }
}
