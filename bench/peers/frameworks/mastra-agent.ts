import { Agent } from '@mastra/core/agent'
import { model } from './model.ts'

export const agent = new Agent({
  id: 'echo',
  name: 'echo',
  description: 'Says the input back',
  instructions: 'Say it back',
  model,
})
