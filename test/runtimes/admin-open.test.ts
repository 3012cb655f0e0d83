/** Admin routes without authentication, in real processes. */
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { startNode, startWorkerd } from './harness.ts'

const entry = 'test/runtimes/fixtures/admin-open.ts'

/** Asks with a `Host` of its own, which fetch does not let one set. */
function ask(url: string, host: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/admin/toolkits`, { headers: { host, ...headers } }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject).end()
  })
}

describe('admin without authentication', () => {
  it.each(['production', 'staging', ''])(
    'does not start on Node with NODE_ENV %j, and says what to write',
    async NODE_ENV => {
      await expect(startNode(entry, { env: { NODE_ENV } })).rejects.toThrow(
        /`admin` needs `admin\.authenticate` in production: write `admin: \{ authenticate: bearerIdentity/,
      )
    },
  )

  it('does not start in a Worker as wrangler deploys it', async () => {
    await expect(startWorkerd('test/runtimes/fixtures/admin-open-workerd.ts')).rejects.toThrow(
      /needs `admin\.authenticate` in production/,
    )
  })

  it('warns in development, and answers this machine alone', async () => {
    const server = await startNode(entry, { env: { NODE_ENV: 'development' } })
    expect(server.log()).toContain('"event":"admin.open"')
    const { host, port } = new URL(server.url)
    expect(await ask(server.url, host)).toBe(200)
    expect(await ask(server.url, `localhost:${port}`)).toBe(200)
    expect(await ask(server.url, 'rebind.example')).toBe(403)
    expect(await ask(server.url, host, { origin: 'https://evil.example' })).toBe(403)
    expect(await ask(server.url, host, { origin: `http://${host}` })).toBe(200)
    await server.stop()
  })
})
