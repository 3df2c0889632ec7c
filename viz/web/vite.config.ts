import { runnerImport, type Connect, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Development only: answers /api from the fixtures, so that the page runs without the server. */
const fixtures: Plugin = {
  name: "uopviz-fixtures",
  apply: "serve",
  async configureServer(server) {
    // Loaded by path, not imported: a build must not need the tests.
    const { module } = await runnerImport<{ answer: Connect.SimpleHandleFunction }>(
      "./test/dev/server.ts",
    );
    server.middlewares.use("/api", module.answer);
  },
};

/** One script, one style sheet and index.html, so that an export can put them all in one file. */
export default defineConfig({
  base: "./",
  plugins: [fixtures],
  build: {
    target: "es2022",
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: false,
    // One script is meant: see above. Over this many kB something came in that should not have.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "app.js",
        assetFileNames: "app[extname]",
      },
    },
  },
  worker: { format: "iife" },
  // The time is for machines under load; a test that hangs fails all the same.
  test: { include: ["test/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 60_000 },
});
