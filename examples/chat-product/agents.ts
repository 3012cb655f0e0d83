import { ModelAgent } from 'servable/model-agent'
import { scriptedModel } from 'servable/test'

const model = scriptedModel(({ text, messages }) => {
  const count = messages.filter(({ role }) => role === 'user').length
  return { text: `Message ${count} was: ${text}`, delayMs: 2_000 }
})

export const assistant = new ModelAgent({
  name: 'assistant',
  description: 'Talks with you',
  model,
  instructions: 'Be short.',
})
