import type { HostSettings } from '../../../src/runs/stored/host.ts'
import { createLocalHost } from '../../../src/runs/stored/local-host.ts'
import type { Target } from '../../../src/runs/target.ts'
import type { Store } from '../../../src/stores/store.ts'
import { journalled } from './journalled.ts'
import type { TestHost } from './kit.ts'
import { countOf, openGate, scripted, wasStopped } from './scripted.ts'

/** Settings that no test reaches by accident. */
export const SETTINGS: HostSettings = {
  production: false,
  timeoutMs: 60_000,
  maxEvents: 1_000_000,
  maxLength: 32 * 1024 * 1024,
  disconnect: 'cancel',
  maxBytes: 16 * 1024 * 1024,
  maxFollowers: 100,
  maxRunning: 1000,
  maxRunningPerOwner: 100,
  retentionMs: 24 * 60 * 60 * 1000,
}

/** The servables of the tests, as a deployment finds them. */
function targetOf({ kind, name }: Pick<Target, 'kind' | 'name'>): Target {
  const servable = [scripted, journalled].find(each => each.kind === kind && each.name === name)
  if (servable === undefined) throw new Error(`there is no ${kind} ${name}`)
  return { kind, name, servable }
}

/** The same store as a process sees it that opens it after all others have died. */
export function reopened<S extends Store>(store: S): S {
  const instance = crypto.randomUUID()
  return { ...store, instance, isAlive: other => other === instance }
}

/** The local host over a store. */
export function localHost(
  store: Store,
  settings: Partial<HostSettings>,
  { stored, close }: Pick<TestHost, 'stored' | 'close'>,
): TestHost {
  const make = (store: Store) => {
    const all = { ...SETTINGS, targetOf, ...settings }
    return createLocalHost({ store, settings: all, retention: {} })
  }
  return {
    host: make(store),
    openGate: async gate => openGate(gate),
    countOf: async name => countOf(name),
    wasStopped: async runId => wasStopped(runId),
    restart: async () => make(reopened(store)),
    stored,
    async close() {
      store.close()
      await close()
    },
  }
}
