import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/bun.ts'
import { handler } from './hosts-server.ts'

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: Handler }): { port: number }
}

const port = Number(process.env.PORT)
const url = process.env.BARE
  ? `http://127.0.0.1:${Bun.serve({ port, hostname: '127.0.0.1', fetch: handler }).port}`
  : (await serve(handler, { port })).url
console.log(`listening ${url}`)
