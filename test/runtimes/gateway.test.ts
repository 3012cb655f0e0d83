import { describe } from 'vitest'
import { type Deploy, gatewayConnectionContract, gatewayContract } from '../contracts/gateway.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('gateway')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => gatewayContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => gatewayContract(deploy))

const others: Readonly<Record<string, Deploy>> = { 'Bun, in SQLite': bun, 'Deno, in SQLite': deno }

describe.each(Object.entries(others))('%s', ELSEWHERE, (_, deploy) => gatewayConnectionContract(deploy))
