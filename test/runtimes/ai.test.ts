/** Model-backed agents on every runtime. */
import { aiContract } from '../contracts/model-agent.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

const deployments = deploymentsOf('ai', {
  // What the AI SDK looks at while it is imported.
  denoAllow: ['--allow-sys=hostname'],
  denoNames: ['NODE_*', 'AI_*', 'VERCEL_*'],
})

everywhere(deployments, aiContract, aiContract, { title: 'a model-backed agent on ' })
