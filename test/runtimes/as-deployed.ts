import type { BuildOptions } from 'esbuild'
import { root } from './process.ts'

/** How a deploy bundles a Worker into one module. */
export const AS_DEPLOYED = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  mainFields: ['browser', 'module', 'main'],
  external: ['cloudflare:*', 'node:*'],
  // The same as wrangler in a deploy. esbuild's default is `development`.
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'silent',
} satisfies BuildOptions
