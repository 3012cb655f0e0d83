import process from 'node:process'
import { serve } from '../../../src/runtimes/bun.ts'
import { serviceFetch } from '../../contracts/socket/service.ts'

const server = await serve(serviceFetch, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
