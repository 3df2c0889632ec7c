import type { Plugin } from "vite";

/** Development only: answers /api from the fixtures, so that the page runs without the server. */
export function fixtureServer(): Plugin {
  return { name: "uopviz-fixtures", apply: "serve" };
}
