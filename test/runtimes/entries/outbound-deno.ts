import process from 'node:process'
import { outboundHandler } from '../../contracts/outbound/service.ts'

declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(address: { port: number }): void },
    handler: typeof outboundHandler,
  ): unknown
}

const onListen = ({ port }: { port: number }) => console.log(`listening http://127.0.0.1:${port}`)
Deno.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', onListen }, outboundHandler)
