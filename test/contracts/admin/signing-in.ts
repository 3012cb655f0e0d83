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
