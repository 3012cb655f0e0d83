import { expect, it } from 'vitest'
import type { ToolServer } from '../../../src/index.ts'
import { run } from '../http/client.ts'
import { ask, type Server } from '../runs/client.ts'
import { served } from '../served.ts'
import { addServer, admin, callOf, expectAdmin, getServer, newName, removeServer } from './client.ts'
import { CLIENT_SECRET, startProvider } from './provider.ts'
import { OTHER_TOKEN } from './service.ts'

/** Sign-ins of administrators to tool servers, over the routes. */
export function signingInCases(server: Server): void {
  const provider = served(() => startProvider())

  it('signs in to a tool server by the address that the provider sends back', async () => {
    const name = newName()
    const added = await addServer(server, {
      name,
      transport: 'http',
      url: provider().tools,
      auth: { type: 'authorization_code', clientId: 'client-1', clientSecret: CLIENT_SECRET },
    })
    expect(added).toMatchObject({ status: 'error', signIn: 'needed' })
    const path = `mcp/${added.id}/sign-in`
    const begun = await expectAdmin<{ url: string; expiresAt: string }>(server, 'POST', path)
    const { searchParams } = new URL(begun.url)
    expect(searchParams.get('redirect_uri')).toBe(`${server().url}/api/admin/sign-in`)
    const query = `sign-in?${provider().signIn(begun.url)}`
    // Neither a stranger nor another administrator ends it.
    expect((await ask(server, `/api/admin/${query}`)).status).toBe(401)
    const authorization = `Bearer ${OTHER_TOKEN}`
    const stolen = await ask(server, `/api/admin/${query}`, { headers: { authorization } })
    expect([stolen.status, JSON.parse(stolen.text).code]).toEqual([403, 'forbidden'])
    const ended = await expectAdmin<ToolServer>(server, 'GET', query)
    expect(ended).toMatchObject({ id: added.id, status: 'connected', signIn: 'done' })
    expect(await getServer(server, added)).toEqual(ended)
    expect(
      (await run(server, '/api/agents/caller/run', callOf(`${name}.forecast`, { city: 'Oslo' }))).text,
    ).toBe('Sunny in Oslo')
    const again = await admin(server, 'GET', query)
    expect([again.status, JSON.parse(again.text).code]).toEqual([400, 'invalid_query'])
    provider().revoke()
    expect((await run(server, '/api/agents/caller/run', callOf(`${name}.tell`))).text).not.toMatch(/access-/)
    await removeServer(server, added)
    expect((await admin(server, 'POST', path)).status).toBe(404)
  })

  it('ends a sign-in in the browser where it began, which has no credentials', async () => {
    const auth = { type: 'authorization_code', clientId: 'client-1', clientSecret: CLIENT_SECRET }
    const added = await addServer(server, { name: newName(), transport: 'http', url: provider().tools, auth })
    const begin = async () => {
      const { headers, text } = await admin(server, 'POST', `mcp/${added.id}/sign-in`)
      const { url, ...rest } = JSON.parse(text)
      expect(Object.keys(rest)).toEqual(['expiresAt'])
      const [cookie = '', ...attributes] = headers.get('set-cookie')?.split('; ') ?? []
      expect(attributes).toEqual(['Path=/api/admin/sign-in', 'Max-Age=600', 'HttpOnly', 'SameSite=Lax'])
      return { cookie, path: `/api/admin/sign-in?${provider().signIn(url)}` }
    }
    const other = await begin()
    const { cookie, path } = await begin()
    const end = async (headers: Record<string, string>) => {
      const { status, text } = await ask(server, path, { headers })
      return [status, JSON.parse(text).code ?? JSON.parse(text).signIn]
    }
    // The cookie opens nothing else, and no other one this.
    expect((await ask(server, '/api/admin/mcp', { headers: { cookie } })).status).toBe(401)
    expect(await end({ cookie: other.cookie })).toEqual([403, 'forbidden'])
    expect(await end({ cookie: `x${cookie}` })).toEqual([401, 'unauthorized'])
    expect(await end({ cookie, authorization: `Bearer ${OTHER_TOKEN}` })).toEqual([403, 'forbidden'])
    expect(await end({ cookie: `a=b; ${cookie}; c=d` })).toEqual([200, 'done'])
    expect(await end({ cookie })).toEqual([400, 'invalid_query'])
    await removeServer(server, added)
  })

  it('uses a token of the service itself', async () => {
    const name = newName()
    const auth = { type: 'client_credentials', clientId: 'client-1', clientSecret: CLIENT_SECRET }
    const body = {
      name,
      transport: 'http',
      url: provider().tools,
      auth: { ...auth, scopes: ['weather:read'] },
    }
    const added = await addServer(server, body)
    expect(added).toMatchObject({ status: 'connected', signIn: null })
    const refused = await admin(server, 'POST', `mcp/${added.id}/sign-in`)
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([400, 'unsupported_operation'])
    await removeServer(server, added)
  })
}
