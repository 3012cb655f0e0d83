/** Files in R2, as the page about files shows it, on workerd as miniflare runs it. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf } from '../contracts/files/bytes.ts'
import { bytesAt, dataOf, makes } from '../contracts/files/client.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { fencesOf, snippetsIn, writeSnippets } from '../pages/pages.ts'
import { ELSEWHERE } from '../tags.ts'
import { AS_DEPLOYED } from './as-deployed.ts'

const AGENTS = "export { says } from '../../contracts/files/service.ts'\n"
const CLASSES = { SERVABLE_RUN: 'ServableRun', SERVABLE_INDEX: 'ServableIndex' }

let folder: string
let miniflare: Miniflare
let server: Deployment
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(fencesOf(['files.md'])))
  await writeFile(join(folder, 'agents.ts'), AGENTS)
  const { outputFiles } = await build({ ...AS_DEPLOYED, entryPoints: [join(folder, 'files-r2.ts')] })
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-10-01',
      compatibilityFlags: ['nodejs_compat', 'enable_request_signal'],
      durableObjects: Object.fromEntries(
        Object.entries(CLASSES).map(([name, className]) => [name, { className, useSQLite: true }]),
      ),
      r2Buckets: ['FILES'],
      cf: false,
    }),
  )
  const url = (await miniflare.ready).href.replace(/\/$/, '')
  const stop = () => miniflare.dispose()
  const ran = { runtime: 'workerd', url, pid: 0, log: () => '', stop, kill: stop } as const
  server = { ...ran, folder: undefined } as unknown as Deployment
})
afterAll(async () => {
  await miniflare?.dispose()
  await rm(folder, { recursive: true, force: true })
})

describe('R2', ELSEWHERE, () => {
  it('has the files of runs, each once', async () => {
    const made = { size: 700_001, seed: 1 }
    const parts = [{ type: 'image', made, mimeType: 'image/png' }]
    const [one, two] = [await makes(() => server, 'a', parts), await makes(() => server, 'b', parts)]
    for (const { result } of [one, two]) {
      const address = dataOf(result?.artifacts?.[0]?.parts[0])
      expect(await bytesAt(() => server, address)).toEqual(bytesOf(made))
    }
    const bucket = await miniflare.getR2Bucket('FILES')
    const { objects } = await bucket.list({ include: ['httpMetadata'] } as never)
    expect(objects).toHaveLength(1)
    expect(objects[0]).toMatchObject({ size: 700_001, httpMetadata: { contentType: 'image/png' } })
  })
})
