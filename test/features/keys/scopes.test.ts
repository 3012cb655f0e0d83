import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { checkScopes, SCOPES } from '../../../src/http/security/scopes.ts'
import { createHandler } from '../../../src/index.ts'
import { root } from '../../runtimes/process.ts'
import { authenticate, service } from './kit.ts'

describe('the table of scopes', () => {
  it('is the one of the documentation', () => {
    const cell = (scope: string | undefined) => (scope === undefined ? '' : ` \`${scope}\``)
    const rows = Object.entries(SCOPES).map(
      ([part, { GET, POST, PATCH, DELETE }]) =>
        `| \`${part}\` |${[GET, POST, PATCH, DELETE].map(scope => `${cell(scope)} |`).join('')}`,
    )
    expect(readFileSync(join(root, 'docs/run/keys.md'), 'utf8')).toContain(rows.join('\n'))
  })

  it('has all routes: a handler with another one does not start', () => {
    const route = { method: 'GET', path: '/api/new', part: 'new', endpoint: () => new Response() } as const
    expect(() => checkScopes([route])).toThrow('GET /api/new')
    const mount = () => ({ routes: [{ ...route, method: 'PATCH' as const, part: 'runs' }] })
    expect(() => createHandler({ plugins: [{ name: 'new', mount }] })).toThrow('PATCH /api/new')
  })

  it('says what routes of other plugins need that say nothing', async () => {
    const endpoint = () => new Response('here')
    const route = (method: 'GET' | 'POST' | 'PATCH', path: string, more: object = {}) => ({
      ...{ method, path: `/api/${path}`, endpoint },
      ...more,
    })
    const mount = () => ({
      routes: [
        route('GET', 'reads'),
        route('POST', 'runs'),
        route('PATCH', 'changes'),
        route('POST', 'looks', { scope: 'read' }),
        route('GET', 'secret', { scope: 'all' }),
      ],
    })
    const keys = callerKeys({ authenticate })
    const { ask, issue } = service(
      {},
      { plugins: [keys, { name: 'own', mount }], middleware: [keysAuth(keys)] },
    )
    const { key } = await issue({ scopes: ['read'] })
    const status = async (method: string, path: string, token: string) =>
      (await ask(path, { method, headers: { authorization: `Bearer ${token}` } })).status
    const statuses = async (token: string) => [
      await status('GET', 'reads', token),
      await status('POST', 'looks', token),
      await status('POST', 'runs', token),
      await status('PATCH', 'changes', token),
      await status('GET', 'secret', token),
    ]
    expect(await statuses(key)).toEqual([200, 200, 403, 403, 403])
    expect(await statuses((await issue()).key)).toEqual([200, 200, 200, 403, 403])
    expect(await statuses((await issue({ scopes: ['all'] })).key)).toEqual([200, 200, 200, 200, 200])
  })
})
