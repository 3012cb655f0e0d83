import { serve } from '../../src/runtimes/node.ts'
import { uploads } from './uploads.ts'

const server = await serve(uploads, { port: Number(process.env.PORT ?? 0) })
console.log(`listening ${server.url}`)
