import { describe } from 'vitest'
import { aiSdkUiContract } from '../contracts/ai-sdk-ui.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('ai-sdk-ui')

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => aiSdkUiContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => aiSdkUiContract(deploy))
