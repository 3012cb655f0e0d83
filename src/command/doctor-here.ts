/**
 * What `servable doctor` finds out about the agents and options of a folder. It serves nothing and goes on with no run: of the state
 * it asks the store alone.
 *
 * @module
 */

import { statfs } from 'node:fs/promises'
import process from 'node:process'
import { messageOf } from '../base/errors.ts'
import type { Core } from '../core/built-in.ts'
import { coreOf } from '../core/handler.ts'
import { createHandler } from '../handler.ts'
import { VERSION } from '../http/version.ts'
import type { Check } from './doctor-url.ts'
import { optionsHere } from './here/options.ts'
import { readEnv } from './here/serving.ts'
import { keyIn } from './load.ts'
import { UsageError } from './service.ts'

/** Milliseconds that the store is waited for. */
const PATIENCE_MS = 5000

/** Milliseconds by which the store's clock may differ. */
const CLOCK_WARN_MS = 2000
const CLOCK_FAIL_MS = 60_000

/** Bytes of free disk. */
const DISK_WARN = 2 ** 30
const DISK_FAIL = 100 * 2 ** 20

/** Milliseconds for the request to `reach`. */
const REACH_MS = 10_000

/** Where to look. */
export interface FolderToCheck {
  /** The file or folder with the agents, as for `servable start`. */
  readonly path: string | undefined
  readonly cwd: string
  /** An address outside, to which a request must get. */
  readonly reach: string | undefined
}

/** Checks what `servable start` would serve. */
export async function checkHere({ path, cwd, reach }: FolderToCheck): Promise<Check[]> {
  process.env.NODE_ENV ??= 'production'
  let core: Core | undefined
  try {
    await readEnv(cwd)
    const { options } = await optionsHere({ path, cwd, production: true, console: false })
    core = coreOf(createHandler(options))
  } catch (error) {
    return [optionsFailed(messageOf(error), error instanceof UsageError), await diskOf(cwd)]
  }
  if (core === undefined) return [optionsFailed('There is no handler'), await diskOf(cwd)]
  return [
    {
      check: 'secrets',
      status: 'ok',
      what: 'The agents and the options load with the variables that are set',
    },
    ...(await stateChecks(core)),
    accessOf(core),
    core.addressOf === undefined
      ? {
          check: 'proxy',
          status: 'warn',
          what: 'No proxy is trusted, so behind one all clients share its address',
          fix: 'set `trustProxy` to the number of proxies before the service; without a proxy all is well',
        }
      : { check: 'proxy', status: 'ok', what: '`trustProxy` is set' },
    ...['sockets', 'polling'].map(check => outside(check)),
    await wayOut(core, reach),
    await diskOf(cwd),
  ]
}

/** `isWhole`: what failed says already what to do. */
function optionsFailed(what: string, isWhole = false): Check {
  const key = keyIn(what)
  if (key !== undefined)
    return { check: 'secrets', status: 'fail', what, fix: `set ${key}, or write it into .env` }
  return {
    check: 'options',
    status: 'fail',
    what,
    fix: isWhole ? undefined : 'correct servable.config.ts or the agents, and ask again',
  }
}

async function stateChecks({ settings: { state } }: Core): Promise<Check[]> {
  if (state.kind === 'none')
    return [
      { check: 'state', status: 'warn', what: 'There is no state: no run is stored', fix: 'set `state`' },
    ]
  if (state.kind === 'hosted')
    return [
      { check: 'state', status: 'unknown', what: 'The state is in objects of the platform', fix: OUTSIDE },
    ]
  const { store, isVolatile } = state
  try {
    await store.write(() => {}, PATIENCE_MS)
    const now = await store.read(tx => tx.now, PATIENCE_MS)
    const apart = Math.round(now - Date.now())
    return [
      isVolatile
        ? {
            check: 'state',
            status: 'warn',
            what: 'The state is in memory: a restart loses it',
            fix: 'set `state`',
          }
        : { check: 'state', status: 'ok', what: 'The state can be read and written' },
      { check: 'version', status: 'ok', what: `Its schema fits version ${VERSION}` },
      clockOf(apart),
    ]
  } catch (error) {
    const fix = 'correct the address or the rights of the database, or run `servable store check`'
    return [{ check: 'state', status: 'fail', what: messageOf(error), fix }]
  } finally {
    store.close()
  }
}

function clockOf(apart: number): Check {
  const ms = Math.abs(apart)
  if (ms <= CLOCK_WARN_MS)
    return { check: 'clock', status: 'ok', what: 'The clocks of the state and of this machine agree' }
  return {
    check: 'clock',
    status: ms > CLOCK_FAIL_MS ? 'fail' : 'warn',
    what: `The clock of the state is ${Math.round(ms / 1000)} s ${apart > 0 ? 'ahead of' : 'behind'} this machine's`,
    fix: 'set both by NTP: leases, schedules and expiry go by them',
  }
}

function accessOf({ settings: { middleware } }: Core): Check {
  const check = 'authentication'
  if (middleware.length > 0) return { check, status: 'ok', what: 'Middleware decides who may call' }
  return {
    check,
    status: 'fail',
    what: 'There is no authentication: everyone who reaches the service may run agents',
    fix: 'add it as `middleware`, such as `bearerAuth`',
  }
}

const OUTSIDE = 'run `servable doctor URL` with the address that clients use'

function outside(check: string): Check {
  const what =
    check === 'sockets' ? 'Whether WebSockets get through the proxy' : 'Whether polling sticks to one server'
  return { check, status: 'unknown', what: `${what} is not known from here`, fix: OUTSIDE }
}

/** Whether a request gets out, as webhooks must. */
async function wayOut({ mounted }: Core, reach: string | undefined): Promise<Check> {
  const check = 'webhooks'
  if (reach === undefined) {
    if (!mounted.some(({ name }) => name === 'webhooks'))
      return { check, status: 'ok', what: 'The service sends no webhooks' }
    return {
      check,
      status: 'unknown',
      what: 'Whether webhooks get out was not tried',
      fix: 'give --reach https://…, one of their addresses',
    }
  }
  try {
    const { status } = await fetch(reach, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(REACH_MS),
    })
    return { check, status: 'ok', what: `${new URL(reach).host} can be reached: it answered ${status}` }
  } catch (error) {
    const why = messageOf((error as Error).cause ?? error)
    return {
      check,
      status: 'fail',
      what: `${reach} cannot be reached: ${why}`,
      fix: 'allow connections out, or set the proxy of the network',
    }
  }
}

async function diskOf(cwd: string): Promise<Check> {
  const check = 'disk'
  const found = await statfs(cwd).catch(() => undefined)
  if (found === undefined)
    return { check, status: 'unknown', what: 'How much of the disk is free is not told here' }
  const free = found.bavail * found.bsize
  const what = `${(free / 2 ** 30).toFixed(1)} GiB of the disk are free`
  if (free >= DISK_WARN) return { check, status: 'ok', what }
  return {
    check,
    status: free < DISK_FAIL ? 'fail' : 'warn',
    what,
    fix: 'make room: a full disk stops every write of the state',
  }
}
