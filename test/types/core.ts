/** Types of the core, its plugins and its handlers' clients: compiled, and never run. */
import * as v from 'valibot'
import { createClient } from '../../src/client/index.ts'
import { Agent, createHandler, keeping, type Plugin } from '../../src/core-entry.ts'

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const baseUrl = 'http://127.0.0.1:8787/api'
const measure = new Agent({
  name: 'measure',
  output: v.object({ celsius: v.number() }),
  run: () => ({ structured: { celsius: 7 } }),
  register: false,
})

const counts = keeping({
  reads: { of: (kept, name: string) => kept.get<number>('count', name) ?? 0 },
  writes: { add: (kept, name: string, by: number) => kept.put('count', name, by) },
})

const plugin: Plugin = {
  name: 'counts',
  kept: counts,
  mount(core) {
    const kept = core.calls(counts)
    const count = kept.of('place', 'name')
    same<typeof count, Promise<number>>(true)
    kept.add('place', 'name', 1)
    // @ts-expect-error: it takes how many
    kept.add('place', 'name')
    // @ts-expect-error: a place is text
    kept.of({ name: 'place', key: 'key' }, 'name')
    // @ts-expect-error: nothing is kept so
    kept.remove('place', 'name')
    return {}
  },
}

// @ts-expect-error: what only looks writes nothing
keeping({ reads: { add: kept => kept.put('count', 'name', 1) } })
// @ts-expect-error: a plugin is mounted at once
const late: Plugin = { name: 'late', mount: async () => ({}) }

// The client knows the names of a core handler too.
const handler = createHandler({ agents: { measure }, plugins: [plugin, late] })
const client = createClient<typeof handler>({ baseUrl })
const measured = await client.agent('measure').run('Oslo')
same<typeof measured.structured, { celsius: number } | null>(true)
// @ts-expect-error: no agent has this name
client.agent('nobody')

const list = createHandler({ serve: [measure], plugins: [plugin] })
const ofList = createClient<typeof list>({ baseUrl })
ofList.agent('measure')
// @ts-expect-error: no agent of the list has this name
ofList.agent('nobody')
// @ts-expect-error: the core has no such option
createHandler({ agents: { measure }, swagger: { enabled: true } })
