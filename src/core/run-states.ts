import { type MemoryStorage, sessionOf } from '../agents/memory.ts'
import { OF_RUN } from '../agents/states.ts'
import type { Catalog } from '../http/catalog.ts'
import type { RunHost } from '../runs/stored/host.ts'

/** The host, where a deleted run without a session takes along what a graph keeps of it. */
export function deletingStates(host: RunHost, catalog: Catalog, memory: MemoryStorage): RunHost {
  const remove = host.delete.bind(host)
  const isGraph = (name: string) => catalog.find('agent', name)?.servable.graph !== undefined
  return Object.assign(host, {
    async delete(...[id, viewer]: Parameters<RunHost['delete']>) {
      const hasGraphs = catalog.entries('agent').some(({ name }) => isGraph(name))
      const run = hasGraphs ? await host.get(id, viewer).catch(() => undefined) : undefined
      await remove(id, viewer)
      if (run?.kind !== 'agent' || !isGraph(run.name)) return
      const { kind, name, userId } = run
      const options = { sessionId: id, userId, identity: viewer ?? undefined }
      const key = sessionOf(memory, catalog.resolve(kind, name), options)
      if (key !== undefined) await memory.sessions?.forgetStates({ ...key, place: [...key.place, OF_RUN] })
    },
  })
}
