import { expect, it } from 'vitest'
import { ask, type Server } from '../runs/client.ts'
import { expectAdmin } from './client.ts'
import { ADMIN_TOKEN } from './service.ts'

const id = '00000000-0000-4000-8000-000000000000'

/** Every route, and paths that do not exist. */
export const ADMIN_ROUTES: readonly (readonly [method: string, path: string, status: number])[] = [
  ['GET', 'mcp', 200],
  ['HEAD', 'mcp', 200],
  ['POST', 'mcp', 415],
  ['GET', `mcp/${id}`, 404],
  ['DELETE', `mcp/${id}`, 404],
  ['POST', `mcp/${id}/connect`, 404],
  ['POST', `mcp/${id}/disconnect`, 404],
  ['GET', `mcp/${id}/tools`, 404],
  ['POST', 'tools/add/call', 415],
  ['GET', 'toolkits', 200],
  ['GET', 'toolkits/arithmetic', 200],
  ['GET', 'toolkits/nothing', 404],
  ['PUT', 'mcp', 405],
  ['OPTIONS', 'mcp', 204],
  ['GET', 'nowhere', 404],
  ['POST', 'mcp/../../secret', 404],
  ['GET', '', 404],
]

/** Cases of authentication for the admin routes. */
export function guardingCases(server: Server): void {
  it.each(ADMIN_ROUTES)('lets an administrator alone do %s /%s', async (method, path, status) => {
    const url = `/api/admin/${path}`
    const withFields = async (headers: HeadersInit) => (await ask(server, url, { method, headers })).status
    if (!path.includes('..')) {
      expect(await withFields({})).toBe(401)
      expect(await withFields({ authorization: 'Bearer wrong' })).toBe(401)
      expect(await withFields({ authorization: `Basic ${ADMIN_TOKEN}` })).toBe(401)
      expect(await withFields({ authorization: `Bearer ${ADMIN_TOKEN}x` })).toBe(401)
    }
    expect(await withFields({ authorization: `Bearer ${ADMIN_TOKEN}` })).toBe(status)
  })

  it('says how to ask, and nothing to pages of other origins', async () => {
    const refused = await ask(server, '/api/admin/mcp', { headers: { origin: 'https://evil.example' } })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    const preflight = await ask(server, '/api/admin/mcp', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(401)
    expect([...preflight.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
  })

  it('shows the toolkits', async () => {
    const summary = {
      id: 'arithmetic',
      name: 'arithmetic',
      description: 'Sums',
      category: 'maths',
      requiresCredentials: false,
      configFields: [{ name: 'key', description: null, required: false, secret: true }],
    }
    expect(await expectAdmin(server, 'GET', 'toolkits')).toEqual([summary])
    expect(await expectAdmin(server, 'GET', 'toolkits/arithmetic')).toEqual({
      ...summary,
      tools: [{ name: 'add', description: null, parameters: null, needsApproval: false }],
    })
  })
}
