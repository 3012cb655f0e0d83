import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  type A2AOptions,
  Agent,
  createHandler,
  type LogEntry,
  memoryState,
  type State,
  textOf,
} from '../../../src/index.ts'
import { a2a } from '../../../src/protocols/a2a/plugin.ts'
import { contextsOf, sessionOf } from '../../../src/protocols/a2a/tenants.ts'
import { codePoint } from '../../code-point.ts'
import { identify } from '../../contracts/identify.ts'

const echo = new Agent({ name: 'echo', register: false, run: input => textOf(input) })

/** Remembers what was said before, and waits for more. */
const clerk = new Agent({
  name: 'clerk',
  register: false,
  async run(input, { memory }) {
    const before = (await memory?.session()?.read())?.length ?? 0
    return { text: `${before} before ${textOf(input)}`, finishReason: 'input_required' }
  },
})

type Tenants = NonNullable<A2AOptions['tenants']>

function serving(options: A2AOptions, state: State = memoryState()) {
  const logged: LogEntry[] = []
  const handler = createHandler({
    agents: { echo, clerk },
    registry: false,
    middleware: [identify],
    plugins: [sessions()],
    production: true,
    logger: entry => void logged.push(entry),
    a2a: { default: 'clerk', ...options },
    state,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    handler(
      new Request(`http://127.0.0.1${path}`, { ...init, headers: { 'x-test-user': 'ada', ...init.headers } }),
    )
  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await ask('/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body,
    })
    return (await response.json()) as { result?: Record<string, never>; error?: { message: string } }
  }
  const send = async (text: string, tenant?: string, more: object = {}) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more }
    const { result, error } = await call('SendMessage', { message, tenant })
    expect(error).toBeUndefined()
    return (result as { task?: Task } | undefined)?.task as Task
  }
  const count = async (tenant?: string) => {
    const { result } = await call('ListTasks', { tenant })
    return (result as unknown as { totalSize: number }).totalSize
  }
  return { ask, call, send, count, logged }
}

interface Task {
  readonly id: string
  readonly contextId: string
  readonly artifacts: readonly { readonly parts: readonly { readonly text: string }[] }[]
}

const anyone: Tenants = { authorize: () => true }

describe('the option `tenants`', () => {
  it.each<[string, object]>([
    ['a2a.tenants.authorize', {}],
    ['a2a.tenants.authorize', { authorize: ['acme'] }],
    ['a2a.tenants.agents', { authorize: () => true, agents: ['echo'] }],
    ['a2a.tenants.names', { authorize: () => true, names: ['acme'] }],
  ])('is refused at the start with what to mend: %s', (field, tenants) => {
    expect(() => a2a({ tenants: tenants as Tenants })).toThrow(field)
  })

  it('tells the log of what it throws, and nobody else', async () => {
    const authorize = () => {
      throw new Error('the password of the store is hunter2')
    }
    const { call, logged } = serving({ tenants: { authorize } })
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const { error } = await call('SendMessage', { message, tenant: 'acme' })
    expect(error?.message).toBe('You may not use this tenant')
    expect(logged).toContainEqual(expect.objectContaining({ level: 'error', event: 'request.failed' }))
  })

  it('counts only a plain yes', async () => {
    for (const answer of ['yes', 1, {}, undefined]) {
      const { call } = serving({ tenants: { authorize: () => answer as boolean } })
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
      const { error } = await call('SendMessage', { message, tenant: 'acme' })
      expect(error?.message).toBe('You may not use this tenant')
    }
  })
})

describe('the option `extensions`', () => {
  it.each<[string, unknown]>([
    ['a2a.extensions.0.uri', [{}]],
    ['a2a.extensions.0.uri', [{ uri: 'one,two' }]],
    ['a2a.extensions.0.uri', [{ uri: 'one two' }]],
    ['a2a.extensions.0.uri', [{ uri: 'urn:é' }]],
    ['a2a.extensions.0.params', [{ uri: 'urn:a', params: 5 }]],
    ['a2a.extensions', [{ uri: 'urn:a' }, { uri: 'urn:a' }]],
    ['a2a.extensions', Array.from({ length: 101 }, (_, at) => ({ uri: `urn:${at}` }))],
  ])('is refused at the start with what to mend: %s', (field, extensions) => {
    expect(() => a2a({ extensions } as A2AOptions)).toThrow(`\`${field}`)
  })
})

describe('conversations of tenants', () => {
  it('know nothing of each other, though their contexts have one name', async () => {
    const { send } = serving({ tenants: anyone })
    const said = async (text: string, tenant?: string) => {
      const { artifacts } = await send(text, tenant, { contextId: 'c' })
      return artifacts.at(-1)?.parts[0]?.text
    }
    expect(await said('one')).toBe('0 before one')
    expect(await said('two', 'acme')).toBe('0 before two')
    expect(await said('three', 'zeta')).toBe('0 before three')
    expect(await said('four', 'acme')).toMatch(/^[1-9] before four$/)
  })

  it('are deleted with their session alone, and all with their user', async () => {
    const { send, ask, count } = serving({ tenants: anyone })
    for (const tenant of [undefined, 'acme', 'zeta']) await send('hi', tenant, { contextId: 'c' })
    const path = `/api/agents/clerk/sessions/${encodeURIComponent('tenant:acme/c')}`
    expect((await ask(path, { method: 'DELETE' })).status).toBe(204)
    expect([await count(), await count('acme'), await count('zeta')]).toEqual([1, 0, 1])
    expect((await ask('/api/users/me', { method: 'DELETE' })).status).toBe(204)
    expect([await count(), await count('zeta')]).toEqual([0, 0])
  })

  it('stay apart when tenants are turned off', async () => {
    const state = memoryState()
    const on = serving({ tenants: anyone }, state)
    await on.send('hi', 'acme')
    const off = serving({}, state)
    await off.send('hi')
    const { result } = await off.call('ListTasks', {})
    expect((result as unknown as { tasks: unknown[] }).tasks).toHaveLength(1)
    expect([await on.count(), await on.count('acme')]).toEqual([1, 1])
  })

  it('are listed whole, page by page, whatever lies between', async () => {
    const { send, call, count } = serving({ tenants: anyone })
    const ids: string[] = []
    for (let at = 0; at < 7; at++) {
      ids.unshift((await send('hi')).id)
      await send('hi', `t${at % 2}`)
    }
    expect(await count()).toBe(7)
    const found: string[] = []
    for (let pageToken: string | undefined = ''; pageToken !== undefined; ) {
      const { result } = await call('ListTasks', { pageSize: 3, pageToken })
      const page = result as unknown as { tasks: Task[]; nextPageToken: string }
      found.push(...page.tasks.map(({ id }) => id))
      pageToken = page.nextPageToken || undefined
    }
    expect(found.sort()).toEqual(ids.sort())
  })
})

describe('the session of a context', () => {
  const name = fc.string({ unit: codePoint, maxLength: 20 })

  it('tells which context it is of, whatever the names', () => {
    fc.assert(
      fc.property(fc.option(name, { nil: undefined }), name, (tenant, contextId) => {
        const found = contextsOf(sessionOf({ tenant, contextId }))
        expect(found).toContainEqual({ ...(tenant !== undefined && { tenant }), contextId })
      }),
    )
  })

  it('is not that of another context', () => {
    fc.assert(
      fc.property(name, name, name, name, (tenant, contextId, otherTenant, otherContext) => {
        const isSame = tenant === otherTenant && contextId === otherContext
        const one = sessionOf({ tenant, contextId })
        const other = sessionOf({ tenant: otherTenant, contextId: otherContext })
        expect(one === other).toBe(isSame)
      }),
    )
  })
})
