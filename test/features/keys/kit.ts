/** Services in this process that keep keys. */

import { localState } from '../../../src/core/local-state.ts'
import {
  type CallerKeysOptions,
  callerKeys,
  type IssuedKey,
  type KeysAuthOptions,
  keysAuth,
} from '../../../src/features/keys/plugin.ts'
import { Agent, createHandler, type Handler, type HandlerOptions, type LogEntry } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

export const says: Agent = new Agent({
  name: 'says',
  register: false,
  run: (_, { identity }) => `by ${identity}`,
})

export const authenticate = ({ headers }: Request) =>
  headers.get('authorization') === 'Bearer root' ? { id: 'root' } : undefined

export interface ServiceOptions extends HandlerOptions {
  readonly store?: Store
  readonly auth?: KeysAuthOptions
}

/** A service, over a store that several may have. */
export function service(
  plugin: CallerKeysOptions = {},
  { store = memoryStore(), auth, ...more }: ServiceOptions = {},
) {
  const keys = callerKeys({ authenticate, ...plugin })
  const logged: LogEntry[] = []
  const handler = createHandler({
    agents: { says },
    registry: false,
    state: localState({ store, retention: {}, isVolatile: false }),
    plugins: [keys],
    runs: { store: 'asked' },
    middleware: [keysAuth(keys, auth)],
    logger: entry => void logged.push(entry),
    ...more,
  })
  return { ...usesOf(handler), handler, keys, store, logged }
}

/** What is done with a handler. */
export function usesOf(handler: Handler) {
  const ask = (path: string, init: RequestInit = {}) =>
    handler(new Request(`http://127.0.0.1/api/${path}`, init))
  return {
    ask,
    async issue(more: object = {}): Promise<IssuedKey> {
      const body = { owner: 'ada', name: 'test', scopes: ['run'], ...more }
      const response = await ask('keys', jsonRequest(body, { authorization: 'Bearer root' }))
      if (response.status !== 201) throw new Error(await response.text())
      return response.json()
    },
    revoke: ({ id }: IssuedKey) =>
      ask(`keys/${id}`, { method: 'DELETE', headers: { authorization: 'Bearer root' } }),
    async run(key: string): Promise<number> {
      const response = await ask(
        'agents/says/run',
        jsonRequest({ input: 'x' }, { authorization: `Bearer ${key}` }),
      )
      await response.body?.cancel()
      return response.status
    },
  }
}
