import { defineConfig, type BuildEnvironmentOptions } from 'vite'

/** What runs in Node or in Electron's main process. `session-sidecar` is not bundled: it looks for its program beside itself. */
const host = (input: Record<string, string>, output: { format: 'es' | 'cjs'; entryFileNames: string }, emptyOutDir: boolean): { build: BuildEnvironmentOptions } => ({
  build: {
    ssr: true,
    outDir: '../../dist/host',
    emptyOutDir,
    target: 'node18',
    minify: false,
    rollupOptions: { input, output: { ...output, chunkFileNames: '[name].js' }, external: ['electron', 'session-sidecar', /^node:/] },
  },
})

// `vite build` makes all of it: the page, what hosts it, and the preload script, which has to be one CommonJS file, because a sandboxed
// one can require nothing but Electron.
export default defineConfig({
  root: 'src/renderer',
  base: './',
  publicDir: false,
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'chrome130',
    modulePreload: false,
    assetsInlineLimit: 0, // a data: address would need more of the Content-Security-Policy
    cssCodeSplit: false,
  },
  builder: {},
  environments: {
    client: {},
    host: host({ main: 'src/electron/main.ts', web: 'src/web/main.ts' }, { format: 'es', entryFileNames: '[name].js' }, true),
    preload: host({ preload: 'src/electron/preload.ts' }, { format: 'cjs', entryFileNames: '[name].cjs' }, false),
  },
})
