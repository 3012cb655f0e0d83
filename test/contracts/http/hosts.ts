/** Invalid values of `Host` (RFC 9112, section 3.2). */
import { expect, it } from 'vitest'
import { type Answer, expectAlive, raw, type Server } from './client.ts'
import type { Host } from './host.ts'

/** Fields that name no valid host, and one that names two. */
export const NO_HOSTS: readonly string[] = [
  'x:99999',
  'a b',
  '[::1',
  '::1',
  'a@b',
  'a:b@c',
  'x/y',
  'x?y',
  'x#y',
  'x\\y',
  'x:-1',
  'x:1:2',
  '1.2.3.256',
  '%zz',
  '"x"',
  'a\r\nHost: b',
]

const HOSTS = ['agents.example', 'agents.example.', 'agents.example:', 'a_b:8080', '[::1]:3000']

/** Makes a request with a host. */
export function askAs(server: Server, host: string, path: string): Promise<Answer> {
  return raw(server, [`GET ${path} HTTP/1.1`, `Host: ${host}`])
}

export function hostCases(server: Server, { decodesPaths: isBehind = false }: Host): void {
  it.each(['/api/health', '/probe/notes', '/socket.io/?EIO=4&transport=polling'])(
    'refuses what is no host at %s, and serves on',
    async path => {
      for (const host of NO_HOSTS) {
        const { status } = await askAs(server, host, path)
        // A server before the handler may have replaced the host.
        if (isBehind) expect(status, host).toBeLessThan(500)
        else expect(status, host).toBe(400)
      }
      await expectAlive(server)
    },
  )

  it('takes every host that is one, and none where HTTP/1.0 has none', async () => {
    for (const host of HOSTS) expect((await askAs(server, host, '/api/health')).status, host).toBe(200)
    const { status } = await raw(server, ['GET /api/health HTTP/1.0'])
    // workerd itself refuses it.
    expect([200, 400]).toContain(status)
    if (server().runtime !== 'workerd') expect(status).toBe(200)
  })
}
