/** Requests over TLS: the address is one that was checked, and the certificate must be of the name. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { listening } from '../../listening.ts'
import { newFolder } from '../run-host/folder.ts'
import { served } from '../served.ts'
import type { Ask } from './cases.ts'
import { startByteServer } from './receiver.ts'

/** A server whose certificate is of `good.example`. */
export interface SecureServer {
  readonly port: number
  /** The file of the certificate, which the service is to trust. */
  readonly certificate: string
  /** The names that clients asked for. */
  readonly names: readonly unknown[]
  stop(): Promise<void>
}

/** Starts it. */
export async function startSecureServer(): Promise<SecureServer> {
  const folder = await newFolder()
  const [certificate, key] = [join(folder.path, 'certificate.pem'), join(folder.path, 'key.pem')]
  const subject = ['-subj', '/CN=good.example', '-addext', 'subjectAltName=DNS:good.example']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']
  const args = ['req', '-x509', ...kind, '-keyout', key, '-out', certificate, ...subject]
  await promisify(execFile)('openssl', args)
  const names: unknown[] = []
  const options = { cert: await readFile(certificate), key: await readFile(key) }
  const server = createServer(options, ({ socket }, response) => {
    names.push('servername' in socket && socket.servername)
    response.end('ok')
  })
  const { port, stop } = await listening(server)
  return {
    port,
    certificate,
    names,
    async stop() {
      await stop()
      await folder.remove()
    },
  }
}

/** The cases of a service that trusts the certificate of the server. */
export function secureCases(ask: Ask, server: () => SecureServer): void {
  const silent = served(() => startByteServer())

  it('reaches a host by its name, at an address that was checked', async () => {
    const url = `https://good.example:${server().port}/`
    expect(await ask({ url, body: 'x', lookups: [['127.0.0.1']] })).toMatchObject({ status: 200, text: 'ok' })
    expect(server().names).toEqual(['good.example'])
  })

  it.each(['bad.example', '127.0.0.1'])(
    'sends nothing to a host whose certificate is not of %s',
    async name => {
      const before = server().names.length
      const { error } = await ask({ url: `https://${name}:${server().port}/`, lookups: [['127.0.0.1']] })
      expect(error?.code ?? error?.message).toMatch(/altname|certificate|NotValidForName/i)
      expect(server().names).toHaveLength(before)
    },
  )

  it('gives up a host with which it cannot agree on a key', async () => {
    const url = `https://127.0.0.1:${silent().port}/`
    expect((await ask({ url, timeoutMs: 300 })).error?.name).toBe('TimeoutError')
    await eventually(() => expect(silent().open()).toBe(0))
  })
}
