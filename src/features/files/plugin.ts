/**
 * Files of stored runs as a plugin: the entry `servable/files`.
 *
 * Begin with `run-files.ts` (files in events), then `service.ts` (stores them) and `transactions.ts` (counts references). May
 * import `core` and what is below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { checkOptions, count, isFunction } from '../../base/schemas.ts'
import type { Builders, Description, Operation, Schema } from '../../core/builders.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { stateFor } from '../../core/no-state.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Plugin } from '../../core/plugin.ts'
import { nextExpiry } from '../../stores/alarm.ts'
import { fileRoutes } from './routes.ts'
import { FILES_SERVICE, FileService } from './service.ts'
import type { FileStore } from './store.ts'
import { FILE_TRANSACTIONS } from './transactions.ts'

export type { FileBytes, FileFacts, FileStore } from './store.ts'

/** How files are stored. */
export interface FilesOptions {
  /** Stores the bytes of files. Default: the handler's `state`. */
  readonly store?: FileStore | undefined
  /** Most bytes of a file. A run with a larger one fails with `run_too_large`. Default: 20,971,520. */
  readonly maxFileBytes?: number | undefined
  /**
   * Most bytes of the files of one owner; all runs without an owner count as one. A run that exceeds it fails with `state_full`.
   * Default: 1,073,741,824.
   */
  readonly maxBytesPerOwner?: number | undefined
}

const StoreSchema: v.GenericSchema<unknown> = v.custom(
  value => ['put', 'get', 'delete', 'has'].every(name => isFunction(Object(value)[name])),
  'must have the functions put, get, delete and has',
)

const OptionsSchema = v.strictObject({
  store: v.optional(StoreSchema),
  maxFileBytes: v.optional(count),
  maxBytesPerOwner: v.optional(count),
})

/** Stores the files of stored runs, and serves them at `GET /runs/:id/artifacts/:artifactId`. Throws `invalid_options`. */
export function files(options: FilesOptions = {}): Plugin {
  checkOptions(FILES_SERVICE, OptionsSchema, options)
  const { store, maxFileBytes = 20 * 1024 ** 2, maxBytesPerOwner = 1024 ** 3 } = options
  const settings = { store, maxFileBytes, maxBytesPerOwner }
  return asPlugin({
    name: FILES_SERVICE,
    files: (core, callTransactions) => {
      stateFor(FILES_SERVICE, core.state)
      return new FileService(core, callTransactions, settings)
    },
    objectServices: { index: createFileService },
    mount(core) {
      const kept = filesOf(core)
      kept.sessions = core.runs.memory?.sessions
      return {
        routes: fileRoutes(core, kept),
        describe: describeFiles,
        forget: async ({ owner, session }) => session === undefined && kept.forgetOwner(owner),
        begin: () => core.life.atBeginning(() => void kept.deleteLeftOver()),
      }
    },
  })
}

/** The files of a handler with the plugin. */
function filesOf({ runs }: Pick<Core, 'runs'>): FileService {
  return runs.files as FileService
}

/** Creates the service in a Durable Object: the same transactions, and an alarm that deletes files without references. */
function createFileService(context: ObjectContext, core: Core): ObjectService {
  const service = objectServiceOf(context, FILE_TRANSACTIONS)
  return {
    ...service,
    async alarm() {
      await filesOf(core).renew(context.store)
      context.store.write(tx => FILE_TRANSACTIONS.writes.sweep(tx))
      await filesOf(core).deleteLeftOver(context.store)
      const at = context.store.read(tx => nextExpiry(tx, FILE_TRANSACTIONS))
      if (at !== undefined) await context.wakeBy(at)
    },
  }
}

/** The OpenAPI description of the routes. */
function describeFiles(build: Builders): Description {
  const { at, operation, parameter, answer } = build
  const runId = parameter('path', 'id', 'Id of the run', { type: 'string', format: 'uuid' })
  const part = parameter('query', 'part', 'Which part of it, from 0', {
    type: 'integer',
    minimum: 0,
    default: 0,
  })
  const bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } }
  const get = (operationId: string, summary: string, own: readonly Schema[]): Operation =>
    operation('runs', operationId, summary, {
      parameters: [runId, ...own, part],
      responses: {
        200: answer('The file, to be saved', bytes),
        206: answer('A range of it', bytes),
        304: { description: 'The client has it' },
      },
      problems: [400, 401, 404, 503],
    })
  return {
    paths: {
      [at('runs/{id}/artifacts/{artifactId}')]: {
        get: get('getArtifact', 'Get a file of an artifact of a stored run', [
          parameter('path', 'artifactId', 'Id of the artifact'),
        ]),
      },
      [at('runs/{id}/messages/{number}')]: {
        get: get('getMessageFile', 'Get a file of a message of a stored run', [
          parameter('path', 'number', 'Which message of the run, from 1', { type: 'integer', minimum: 1 }),
        ]),
      },
      [at('runs/{id}/input')]: {
        get: get('getInputFile', 'Get a file of the input of a run in a session', []),
      },
    },
  }
}
