/** A package registry for an unpublished package. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { listening } from '../listening.ts'

export interface Registry {
  readonly url: string
  stop(): Promise<void>
}

const run = promisify(execFile)

/** Has the package of one tarball, and redirects requests for other packages to npm's configured registry. */
export async function startRegistry(tarball: string): Promise<Registry> {
  const bytes = await readFile(tarball)
  const manifest = JSON.parse((await run('tar', ['-xzOf', tarball, 'package/package.json'])).stdout)
  const upstream = (await run('npm', ['config', 'get', 'registry'])).stdout.trim()
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`

  const server = createServer(({ url = '' }, response) => {
    if (url === `/${name}`) {
      const dist = { tarball: `${own}/${name}.tgz`, integrity }
      const document = {
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...manifest, dist } },
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    } else if (url === `/${name}.tgz`) response.end(bytes)
    else response.writeHead(307, { location: new URL(url.slice(1), upstream).href }).end()
  })
  const { url: own, stop } = await listening(server)
  return { url: `${own}/`, stop }
}
