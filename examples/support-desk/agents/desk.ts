import { Team } from 'servable'
import { lead } from 'servable/model-agent'
import { model } from '../model.ts'
import { orders } from './orders.ts'
import { returns } from './returns.ts'

export const desk = new Team({
  name: 'desk',
  description: 'Answers customers',
  members: [orders, returns],
  strategy: lead({ model, instructions: 'Ask the member that can help, then answer the customer.' }),
})
