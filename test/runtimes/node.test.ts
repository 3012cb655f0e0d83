import { describe, expect, it } from 'vitest'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startNode } from './harness.ts'

describe('servable/node', () => httpContract(() => startNode('test/runtimes/entries/node.ts')))

describe('a connection to servable/node', () => {
  it('may rest for longer than proxies keep theirs', async () => {
    const server = await startNode('test/runtimes/entries/node.ts')
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
