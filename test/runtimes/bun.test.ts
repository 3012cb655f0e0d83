import { describe } from 'vitest'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startBun } from './harness.ts'

describe('servable/bun', () => httpContract(() => startBun('test/runtimes/entries/http-server.ts')))

describe('a handler given to Bun.serve', () =>
  smokeContract(() => startBun('test/runtimes/entries/bare-bun.ts')))
