// The handler for Node, Bun and Deno. Its state is in the file DATABASE if that is set, otherwise in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { stdio } from '../../../src/runtimes/stdio.ts'
import { handlerOn } from '../../contracts/admin/service.ts'
import { stateAt } from './state.ts'

export const handler: Handler = handlerOn(await stateAt(process.env.DATABASE), undefined, {}, stdio)
