import { scriptedModel } from 'servable/test'

export const model = scriptedModel(({ text }) => `${text.split('. ')[0]}.`)
