/// <reference types="vitest/config" />
import { defineConfig } from "vite";

// While developing, `npm run dev` passes questions on to a running `headway serve`.
const server = process.env.HEADWAY_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../build/web",
    emptyOutDir: true,
    target: "es2022",
    // Images and fonts stay files: the page's policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The same names in every build: the server tells versions apart by their ETag.
    rollupOptions: {
      output: { entryFileNames: "assets/[name].js", chunkFileNames: "assets/[name].js", assetFileNames: "assets/[name][extname]" },
    },
  },
  worker: { format: "es", rollupOptions: { output: { entryFileNames: "assets/[name].js" } } },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        // The server answers only to its own page.
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", server)),
      },
    },
  },
  test: { include: ["{src,tests}/**/*.test.{ts,tsx}"], environment: "node" },
});
