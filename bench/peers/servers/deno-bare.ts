/** `Deno.serve` alone. */

import { bareHandler } from '../bare.ts'

declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen(): void },
    handler: typeof bareHandler,
  ): { readonly addr: { readonly port: number } }
}

const { addr } = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, bareHandler)
console.log(`listening http://127.0.0.1:${addr.port}`)
