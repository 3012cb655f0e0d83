import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { handler } from '../../contracts/fixture.ts'

declare const Bun: {
  serve(options: { port: number; hostname: string; idleTimeout: number; fetch: Handler }): { port: number }
}

const port = Number(process.env.PORT)
const server = Bun.serve({ port, hostname: '127.0.0.1', idleTimeout: 0, fetch: handler })
console.log(`listening http://127.0.0.1:${server.port}`)
