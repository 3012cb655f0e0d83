import { describe } from 'vitest'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startDeno } from './harness.ts'

describe('servable/deno', () => httpContract(() => startDeno('test/runtimes/entries/http-server.ts')))

describe('a handler given to Deno.serve', () =>
  smokeContract(() => startDeno('test/runtimes/entries/bare-deno.ts')))
