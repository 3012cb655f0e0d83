import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

it('the client is under 7 KiB, minified and gzipped, with its dependency', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/client/index.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    write: false,
  })
  const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).byteLength
  expect(bytes).toBeGreaterThan(3000)
  expect(bytes).toBeLessThan(7 * 1024)
})
