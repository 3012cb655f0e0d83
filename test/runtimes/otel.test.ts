import { describe } from 'vitest'
import { otelContract } from '../contracts/otel.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Deploy, deploymentsOf } from './deployments.ts'

// The exporter reads its settings from the environment.
const { nodeInMemory, node, bun, deno, workerd } = deploymentsOf('otel', { denoNames: ['OTEL_*'] })

const deployments: Readonly<Record<string, Deploy>> = {
  'Node, in SQLite': node,
  'Bun, in SQLite': bun,
  'Deno, in SQLite': deno,
  'workerd, in Durable Objects': workerd,
}

describe('Node, in memory', () => otelContract(nodeInMemory))

describe.each(Object.entries(deployments))('%s', ELSEWHERE, (_, deploy) => otelContract(deploy))
