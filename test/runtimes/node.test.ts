import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkNode } from '../../src/runtimes/node/version.ts'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startNode } from './harness.ts'
import { root } from './process.ts'

describe('servable/node', () => httpContract(() => startNode('test/runtimes/entries/http-server.ts')))

describe('an older Node', () => {
  it.each(['20.20.2', '22.12.0'])('is told which one is needed: %s', version => {
    const message = `servable needs Node 22.13 or newer, and this is Node ${version}`
    expect(() => checkNode(version)).toThrow(expect.objectContaining({ code: 'invalid_options', message }))
  })

  it.each(['22.13.0', '23.0.0', '24.21.0', '100.1.0'])('is not %s', version => {
    expect(() => checkNode(version)).not.toThrow()
  })

  it('is what the manifest says', async () => {
    const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(() => checkNode('0.0.0')).toThrow(`Node ${engines.node.replace(/^>=(.*)\.0$/, '$1')} or newer`)
  })
})

describe('a connection to servable/node', () => {
  it('may rest for longer than proxies keep theirs', async () => {
    const server = await startNode('test/runtimes/entries/http-server.ts')
    try {
      const response = await fetch(`${server.url}/api/agents`)
      await response.text()
      const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? []
      // nginx and the load balancers of clouds keep one for 60 s.
      expect(Number(seconds)).toBeGreaterThan(60)
    } finally {
      await server.stop()
    }
  })
})

describe('a handler given to srvx on Node', () =>
  smokeContract(() => startNode('test/runtimes/entries/bare-node.ts')))
