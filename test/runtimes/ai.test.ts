/** Model-backed agents on every runtime. */
import { describe } from 'vitest'
import { aiContract } from '../contracts/model-agent.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('ai', {
  // What the AI SDK looks at while it is imported.
  denoAllow: ['--allow-sys=hostname'],
  denoNames: ['NODE_*', 'AI_*', 'VERCEL_*'],
})

const deployments: readonly [name: string, deploy: Deploy][] = [
  ['Node, in memory', nodeInMemory],
  ['Node, in SQLite', node],
  ['Bun, in SQLite', bun],
  ['Deno, in SQLite', deno],
  ['workerd, in Durable Objects', workerd],
]

describe.each(deployments)('a model-backed agent on %s', (_, deploy) => aiContract(deploy))
