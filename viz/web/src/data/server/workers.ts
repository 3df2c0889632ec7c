/**
 * Service workers at this address. The page has none: one that is there was left by another program
 * that served at this port before, and sees all that the page asks for.
 */

/** Removes them with what they keep; whether there were any. */
export async function removeWorkers(
  workers: ServiceWorkerContainer | undefined = (navigator as Partial<Navigator>).serviceWorker,
): Promise<boolean> {
  try {
    const found = (await workers?.getRegistrations()) ?? [];
    await Promise.all(found.map((one) => one.unregister()));
    if (found.length) for (const name of await caches.keys()) await caches.delete(name);
    return found.length > 0 || Boolean(workers?.controller);
  } catch {
    return false; // no workers where the browser has none for this page
  }
}
