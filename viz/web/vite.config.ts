import { defineConfig } from "vitest/config";
import { fixtureServer } from "./test/dev/server.ts";

/** One script, one style sheet and index.html, so that an export can put them all in one file. */
export default defineConfig({
  base: "./",
  plugins: [fixtureServer()],
  build: {
    target: "es2022",
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "app.js",
        assetFileNames: "app[extname]",
      },
    },
  },
  worker: { format: "iife" },
  test: { include: ["test/**/*.test.{ts,tsx}"], environment: "node" },
});
