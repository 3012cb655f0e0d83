/** What holds of roles and tenants on every runtime. `test/http/all-roles.test.ts` walks all routes. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { jsonRequest } from './http/client.ts'
import type { Deployment } from './runs/client.ts'
import { served } from './served.ts'

interface Listed {
  readonly id: string
  readonly status: string
  readonly title?: string
  readonly owner?: string
}

export function rolesContract(deploy: Deploy): void {
  describe('roles and tenants', () => {
    const server = served<Deployment>(() => deploy(''))
    const ask = (user: string, path: string, init: RequestInit = {}) => {
      const headers = { ...init.headers, authorization: `Bearer ${user}` }
      return fetch(`${server().url}/api/${path}`, { ...init, headers })
    }
    const statusOf = async (user: string, path: string, init?: RequestInit) => {
      const response = await ask(user, path, init)
      await response.body?.cancel()
      return response.status
    }
    const start = async (user: string, agent: string): Promise<string> => {
      const init = jsonRequest({ input: `of ${user}` }, { prefer: 'respond-async' })
      return (await (await ask(user, `agents/${agent}/run`, init)).json()).id
    }
    /** All pages. */
    const list = async (user: string, query: string): Promise<Listed[]> => {
      const found: Listed[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const path: string = `runs?${query}&limit=2${cursor && `&cursor=${cursor}`}`
        const page = (await (await ask(user, path)).json()) as { runs: Listed[]; nextCursor: string | null }
        found.push(...page.runs)
        cursor = page.nextCursor
      }
      return found
    }
    const ownersOf = (runs: readonly Listed[]) => new Set(runs.map(({ owner }) => owner))

    it('let operators list what is of all, and act on it', async () => {
      const ids = {
        ada: await start('ada', 'says'),
        bob: await start('bob', 'waits'),
        acme: await start('acme-ada', 'says'),
      }
      await eventually(async () => {
        const all = await list('eve', 'owner=*')
        expect(ownersOf(all)).toEqual(new Set(['ada', 'bob', 'acme›ada']))
        const statuses = Object.values(ids).map(id => all.find(run => run.id === id)?.status)
        expect(statuses).toEqual(['completed', 'running', 'completed'])
      })
      expect((await list('eve', 'owner=*&status=running')).map(({ id }) => id)).toEqual([ids.bob])
      expect((await list('eve', 'owner=bob')).map(({ id }) => id)).toEqual([ids.bob])
      expect(ownersOf(await list('acme-eve', 'owner=*'))).toEqual(new Set(['acme›ada']))
      expect((await list('ada', 'kind=agent')).map(({ id, owner }) => [id, owner])).toEqual([
        [ids.ada, undefined],
      ])

      const stream = await ask('eve', `runs/${ids.bob}/stream?owner=bob`)
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!/waiting|It ended/.test(text)) text += (await reader?.read())?.value ?? 'It ended'
      await reader?.cancel()
      expect(text).not.toContain('It ended')
      expect(await statusOf('acme-eve', `runs/${ids.bob}?owner=bob`)).toBe(404)
      expect(await statusOf('ada', `runs/${ids.bob}?owner=bob`)).toBe(404)
      expect(await statusOf('ada', 'runs?owner=*')).toBe(404)
      const cancelled = await ask('eve', `runs/${ids.bob}/cancel?owner=bob`, { method: 'POST' })
      expect(await cancelled.json()).toMatchObject({ status: 'cancelled' })
      await eventually(async () => {
        expect((await list('eve', 'owner=*')).find(({ id }) => id === ids.bob)?.status).toBe('cancelled')
      })
    })

    it('let those who may read inputs see what models were sent', async () => {
      const id = await start('ada', 'models')
      const path = `runs/${id}/events`
      const textOf = async (user: string, query: string) => (await ask(user, path + query)).text()
      await eventually(async () => expect(await textOf('ada', '')).toContain('"ended":true'))
      for (const [user, owner] of [
        ['ada', ''],
        ['eve', '&owner=ada'],
      ] as const) {
        const { events } = JSON.parse(await textOf(user, `?include=model_calls${owner}`))
        const call = { type: 'model_call', finishReason: 'stop' }
        expect(events[0].event).toMatchObject({
          ...{ ...call, prompt: { messages: ['of ada'] }, reply: { text: 'the reply' } },
        })
      }
      expect(await statusOf('vic', `${path}?include=model_calls&owner=ada`)).toBe(404)
      expect(await statusOf('bob', `${path}?include=model_calls`)).toBe(404)
      for (const text of [
        await textOf('vic', '?owner=ada'),
        await textOf('ada', ''),
        await (await ask('ada', `runs/${id}/stream`)).text(),
      ]) {
        expect(text).toContain('model_call')
        expect(text).not.toMatch(/"prompt"|"reply"|the reply/)
      }
    })

    it('let those search who may read inputs, and show titles to them', async () => {
      const own = await start('ada', 'says')
      const titleOf = (runs: readonly Listed[]) => runs.find(({ id }) => id === own)?.title
      await eventually(async () => {
        expect(titleOf(await list('ada', 'search=OF%20ADA&status=completed'))).toBe('of ada')
      })
      expect(await list('ada', 'search=of%20bob')).toEqual([])
      await eventually(async () =>
        expect(titleOf(await list('eve', 'owner=*&search=of%20ada'))).toBe('of ada'),
      )
      expect(titleOf(await list('eve', 'owner=ada&search=of%20ada'))).toBe('of ada')
      expect(await statusOf('vic', 'runs?owner=*')).toBe(200)
      expect(await statusOf('vic', 'runs?owner=*&search=of')).toBe(404)
      expect(await statusOf('vic', 'runs?owner=ada&search=of')).toBe(404)
      expect((await list('vic', 'owner=*')).map(({ title }) => title).filter(Boolean)).toEqual([])
      const counted = await (await ask('ada', 'runs?search=of%20ada&count=true&limit=1')).json()
      expect(counted.count).toBe((await list('ada', 'search=of%20ada')).length)
    })

    it('let administrators delete all of an owner, which then is in no list', async () => {
      const id = await start('bob', 'says')
      await eventually(async () => expect(ownersOf(await list('root', 'owner=*'))).toContain('bob'))
      await eventually(async () => {
        const { status } = await (await ask('bob', `runs/${id}`)).json()
        expect(status).toBe('completed')
      })
      expect(await statusOf('eve', 'users/me?owner=bob', { method: 'DELETE' })).toBe(404)
      expect(await statusOf('root', 'users/me?owner=bob', { method: 'DELETE' })).toBe(204)
      await eventually(async () => expect(ownersOf(await list('root', 'owner=*'))).not.toContain('bob'))
      expect(ownersOf(await list('root', 'owner=*'))).toContain('ada')
    })
  })
}
