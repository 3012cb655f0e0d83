import { describe } from 'vitest'
import { httpContract, smokeContract } from '../contracts/http.ts'
import { startWorkerd } from './harness.ts'

describe('servable/cloudflare', () =>
  httpContract(() => startWorkerd('test/runtimes/entries/http-server.ts')))

describe('a handler given to workerd', () =>
  smokeContract(() => startWorkerd('test/runtimes/entries/bare-workerd.ts')))
