/**
 * The service of the contract of stored runs. Every runtime serves it with its own state, once with each of the settings.
 * Other mounts than `/api` have other options of the handler. `/probe` has the agents' notes and the gates that agents wait
 * for.
 */
import {
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunsOptions,
  type State,
  sequence,
  Team,
} from '../../../src/index.ts'
import { teams, workflows } from '../fixture/agents.ts'
import { notes } from '../fixture/record.ts'
import { identify } from '../identify.ts'
import { mounted } from '../mounted.ts'
import { agents, gates, remembers } from './agents.ts'

/** A run is stored if its client asks for that, on every runtime. */
const asked = { store: 'asked' } as const

const SETTINGS = {
  usual: { ...asked, maxSessionMessages: 10, maxSessionLength: 1000 },
  continue: { ...asked, disconnect: 'continue', measure: true, keepInput: true, keepJournal: true },
  grace: { ...asked, disconnect: { graceMs: 2500 } },
  folds: { ...asked, piecesMs: 1 },
  tight: { ...asked, maxFollowers: 2, maxRunning: 3, maxRunningPerOwner: 2 },
  short: { ...asked, timeoutMs: 300, maxEvents: 100, maxBytes: 10_000 },
} as const satisfies Record<string, RunsOptions>

const PRICING = { 'provider-m/m-1': { prompt: 100_000, completion: 200_000 } }

/** The names of the settings with which the service is started. */
export type SettingsName = keyof typeof SETTINGS

/** The options of the service. */
function optionsOf(state: State, name = 'usual'): HandlerOptions {
  return {
    production: true,
    agents,
    teams: {
      ...teams,
      remembering: new Team({
        name: 'remembering',
        members: [remembers],
        strategy: sequence,
        register: false,
      }),
    },
    workflows,
    state,
    cors: ['https://app.example'],
    middleware: [identify],
    limits: { maxBodyBytes: 8 * 1024 * 1024 },
    runs: SETTINGS[name as SettingsName],
    pricing: PRICING,
  }
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, name = 'usual', more: HandlerOptions = {}): Handler {
  const options = { ...optionsOf(state, name), ...more }
  const mounts: Readonly<Record<string, Handler>> = {
    open: createHandler({ ...options, prefix: '/open', runs: { ...options.runs, listAnonymous: true } }),
    none: createHandler({ ...options, prefix: '/none', runs: { store: 'none' } }),
  }
  return createHandler({ ...options, fallback: mounted(mounts, probe) })
}

function probe(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/probe/open') gates.add(searchParams.get('gate') ?? '')
  return Response.json(notes)
}
