/** `Bun.serve` alone. */

import { bareHandler } from '../bare.ts'

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: typeof bareHandler }): { readonly port: number }
}

const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: bareHandler })
console.log(`listening http://127.0.0.1:${port}`)
