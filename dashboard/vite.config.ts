// Builds the page into dist/dashboard: no inline script, so that the hub's content policy needs no exception.
import { basename } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  css: {
    modules: {
      localsConvention: 'camelCaseOnly',
      // `fleet_card`: readable in developer tools, and known to tests.
      generateScopedName: (name, file) => `${basename(file, '.module.css')}_${name}`,
    },
  },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2023',
    reportCompressedSize: false,
    // The terminal is one piece, and loaded when a session is opened.
    chunkSizeWarningLimit: 600,
  },
})
