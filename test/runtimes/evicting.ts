/** Wrangler's own server, which can evict an object as Cloudflare does. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestHarness } from 'wrangler'
import { programOf } from './listeners.ts'
import { root } from './process.ts'

/** Starts a Worker that counts its objects (`counting.ts`), those of runs if it is a service's, with the classes `Servable…`. */
export async function startEvicting(
  entry: string,
  names: readonly string[],
  vars: Readonly<Record<string, string>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'servable-evicting-'))
  const configPath = join(folder, 'wrangler.json')
  const bindings = names.map(name => ({
    name: `SERVABLE_${name.toUpperCase()}`,
    class_name: `Servable${name}`,
  }))
  await writeFile(
    configPath,
    JSON.stringify({
      name: 'evicting',
      main: join(root, await programOf(entry, 'evicted')),
      compatibility_date: '2026-10-01',
      compatibility_flags: ['enable_request_signal'],
      vars,
      durable_objects: { bindings },
      migrations: [{ tag: 'v1', new_sqlite_classes: bindings.map(({ class_name }) => class_name) }],
    }),
  )
  const harness = createTestHarness({ root, workers: [{ configPath }] })
  const { origin } = (await harness.listen()).url
  return {
    runtime: 'wrangler' as const,
    url: origin,
    folder,
    pid: process.pid,
    log: () => '',
    kill: () => harness.close(),
    async stop() {
      await harness.close()
      await rm(folder, { recursive: true, force: true })
    },
    worker: harness.getWorker(),
    /** Number of times that objects were made. */
    made: async () => Number(await (await fetch(`${origin}/made`)).text()),
  }
}
