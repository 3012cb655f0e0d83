// Dies by `kill -9` when the first tick is claimed, and before its run is started: there the agent is looked up.
import process from 'node:process'
import { Registry } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { AGENTS, handlerOn } from '../../contracts/schedules/service.ts'
import { stateAt } from './state.ts'

class Dying extends Registry {
  isServing = false

  override get<K extends Parameters<Registry['get']>[0]>(kind: K, name: string) {
    if (this.isServing) process.kill(process.pid, 'SIGKILL')
    return super.get(kind, name)
  }
}

const { DATABASE, SETTINGS, PORT } = process.env
const registry = new Dying()
for (const agent of AGENTS) registry.register(agent)
const handler = handlerOn(await stateAt(DATABASE), SETTINGS, { registry })
registry.isServing = true
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
