import type { HandlerOptions } from 'servable'
import { budgets } from 'servable/budgets'
import { schedule, schedules } from 'servable/schedules'
import { research } from './agents.ts'

const DAY_MS = 86_400_000

const morning = schedule(research, {
  name: 'morning',
  cron: '0 7 * * MON-FRI',
  timezone: 'Europe/Berlin',
  input: 'tides',
  owner: 'local',
})

export default {
  plugins: [
    budgets({ maxTokens: 100, windowMs: DAY_MS, key: 'owner', reserveTokens: 15 }),
    schedules([morning]),
  ],
} satisfies HandlerOptions
