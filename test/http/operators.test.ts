import { describe, expect, it } from 'vitest'
import { localState } from '../../src/core/local-state.ts'
import { budgets } from '../../src/features/budgets/plugin.ts'
import { schedule, schedules } from '../../src/features/schedules/plugin.ts'
import { Agent, bearerIdentity, createHandler, type Plugin, platform } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const agents = { echo: new Agent({ name: 'echo', register: false, run: () => 'x' }) }
const authenticate = bearerIdentity({ tokens: { right: 'admin' } })
const hourly = schedule('echo', { cron: '0 * * * *', input: 'x', owner: 'ada' })
const daily = { maxTokens: 1, windowMs: 86_400_000, key: 'all' } as const

/** Operators' routes that a service may start without in production. `keys` and `admin` do not start there. */
const ROUTES: readonly [path: string, plugin: (options: object) => Plugin][] = [
  ['schedules', options => schedules([hourly], options)],
  ['budgets/all', options => budgets(daily, options)],
]

describe.each(ROUTES)('GET /%s', (path, plugin) => {
  const ask = (production: boolean, options: object, headers: Record<string, string> = {}) => {
    const plugins = [plugin(options)]
    const handler = createHandler({
      agents,
      registry: false,
      state: localState({ store: memoryStore(), retention: {}, isVolatile: false }),
      production,
      plugins,
      logger: false,
    })
    return handler(new Request(`http://127.0.0.1/api/${path}`, { headers }), platform({ ip: '127.0.0.1' }))
  }

  it('answers nobody in production without `authenticate`, and elsewhere this machine', async () => {
    const refused = await ask(true, {})
    expect(refused.status).toBe(403)
    expect((await refused.json()).detail).toContain('authenticate')
    expect((await ask(false, {})).status).toBe(200)
  })

  it('answers whom `authenticate` lets in', async () => {
    for (const production of [true, false]) {
      expect((await ask(production, { authenticate })).status).toBe(401)
      const headers = { authorization: 'Bearer right' }
      expect((await ask(production, { authenticate }, headers)).status).toBe(200)
    }
  })
})
