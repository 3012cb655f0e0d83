import { describe } from 'vitest'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startNode } from './harness.ts'

describe('servable/node', () => httpContract(() => startNode('test/runtimes/entries/node.ts')))

describe('a handler given to srvx on Node', () =>
  smokeContract(() => startNode('test/runtimes/entries/bare-node.ts')))
