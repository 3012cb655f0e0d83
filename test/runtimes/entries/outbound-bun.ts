import process from 'node:process'
import { outboundHandler } from '../../contracts/outbound/service.ts'

declare const Bun: {
  serve(options: { port: number; hostname: string; idleTimeout: number; fetch: typeof outboundHandler }): {
    port: number
  }
}

const port = Number(process.env.PORT)
const server = Bun.serve({ port, hostname: '127.0.0.1', idleTimeout: 0, fetch: outboundHandler })
console.log(`listening http://127.0.0.1:${server.port}`)
