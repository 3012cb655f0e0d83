/** What the page about roles shows does what it says, and its tables are those of the code. */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROLES, ROUTE_RIGHTS } from '../../src/features/small/role-table.ts'
import { RIGHTS } from '../../src/http/security/rights.ts'
import type { Handler } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { startIssuer } from '../contracts/jwt/issuer.ts'
import { root } from '../runtimes/process.ts'
import { commandsIn, fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const run = promisify(execFile)
const shown = fencesOf(['roles.md'])
const page = await readFile(join(root, 'docs/run/roles.md'), 'utf8')

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(shown))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const handlerOf = async (name: string, at = folder) => (await load<{ handler: Handler }>(at, name)).handler

/** Asks as whoever has a token. */
function asking(handler: Handler) {
  return async (token: string, path: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, authorization: `Bearer ${token}` }
    const response = await handler(new Request(`http://127.0.0.1/api/${path}`, { ...init, headers }))
    return { ...(await response.json()), status: response.status }
  }
}

const input = jsonRequest({ input: 'hi' })

describe('the page about roles', () => {
  it('shows commands with which an operator sees every run', async () => {
    const handler = await handlerOf('roles-first.ts')
    const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
    try {
      await asking(handler)('token-of-ada', 'agents/echo/run', input)
      const said: { runs: { owner?: string; name: string }[] }[] = []
      for (const command of commandsIn(shown).flatMap(each => each.trim().split('\n'))) {
        const typed = command.replaceAll('http://127.0.0.1:8787', server.url)
        const asAda = await run('sh', ['-c', typed.replace('token-of-eve', 'token-of-ada')])
        if (typed.includes('owner=*')) expect(JSON.parse(asAda.stdout)).toMatchObject({ code: 'not_found' })
        said.push(JSON.parse((await run('sh', ['-c', typed])).stdout))
      }
      expect(said.map(({ runs }) => runs.map(({ name, owner }) => [name, owner]))).toEqual([
        [['echo', 'ada']],
        [['echo', undefined]],
      ])
    } finally {
      await server.close()
    }
  })

  it('shows a role of one’s own', async () => {
    const ask = asking(await handlerOf('roles-access.ts'))
    const { runId } = await ask('token-of-ada', 'agents/echo/run', input)
    expect((await ask('token-of-joe', `runs/${runId}?owner=ada`)).status).toBe(200)
    expect((await ask('token-of-joe', `runs/${runId}/retry?owner=ada`, { method: 'POST' })).status).toBe(404)
  })

  it('shows a service of many customers', async () => {
    const issuer = await startIssuer()
    const own = await writeSnippets(snippetsIn(shown), text =>
      text.replaceAll(
        "issuer: 'https://login.example.com',",
        `issuer: '${issuer.url}',\n      allow: ['127.0.0.1'],`,
      ),
    )
    try {
      const ask = asking(await handlerOf('roles-tenants.ts', own))
      const tokenOf = (claims: object) => issuer.sign(claims)
      const { text, runId } = await ask(await tokenOf({ org: 'acme' }), 'agents/echo/run', input)
      expect(text).toBe('hi by acme›ada')
      const statusOf = async (claims: object) =>
        (await ask(await tokenOf(claims), `runs/${runId}?owner=ada`)).status
      expect(await statusOf({ org: 'umbrella', sub: 'eve', admin: true })).toBe(404)
      expect(await statusOf({ org: 'acme', sub: 'eve', admin: true })).toBe(200)
      expect(await statusOf({ org: 'acme', sub: 'eve' })).toBe(404)
      expect((await ask(await tokenOf({}), 'runs')).status).toBe(401)
    } finally {
      await issuer.stop()
      await rm(own, { recursive: true, force: true })
    }
  })

  it('has the table of the code', () => {
    const rows = [...page.matchAll(/^\| `(\w+)`: [^|]*\| [^|]*\|(.*)\|$/gm)]
    const columns = ['viewer', 'approver', 'operator', 'admin']
    const table = rows.map(([, right, cells = '']) => {
      const has = cells.split('|').map(cell => cell.trim() === 'yes')
      return [right, columns.filter((_, index) => has[index])]
    })
    expect(table).toEqual(RIGHTS.map(right => [right, columns.filter(role => ROLES[role]?.includes(right))]))
  })

  it('names the right of every route', () => {
    const section = page.slice(page.indexOf('| routes that take `owner`'))
    for (const [route, right] of Object.entries(ROUTE_RIGHTS)) {
      const path = route.replace(/^\w+ /, '').replace('/kinds/', '/agents/')
      const last = path.split('/').at(-1)?.replace(/^:.*/, '') || path
      const rows = section.split('\n').filter(row => row.includes(`| \`${right}\``))
      expect(
        rows.some(row => row.includes(last)),
        route,
      ).toBe(true)
    }
  })
})
