import { describe } from 'vitest'
import { schedulesContract } from '../contracts/schedules.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { node, bun, deno, workerd } = deploymentsOf('schedules')

const deployments: Readonly<Record<string, Deploy>> = {
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': async settings => {
    const server = await workerd(settings)
    await fetch(`${server.url}/scheduled`)
    return server
  },
}

describe('Node, in SQLite', () => schedulesContract(node))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => schedulesContract(deploy))
