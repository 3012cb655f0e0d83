import { describe } from 'vitest'
import { budgetsContract } from '../contracts/budgets.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('budgets')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => budgetsContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => budgetsContract(deploy))
