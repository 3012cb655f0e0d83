import type { Correction, CorrectionQuery, CorrectionStore } from '../../agents/corrections.ts'
import type { Builders, Description } from '../../core/builders.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { CallTransactions, Transactions } from '../../core/transaction-calls.ts'
import {
  addCorrection,
  CorrectionSchema,
  forgetCorrections,
  listCorrections,
} from '../../http/corrections.ts'
import { correctionRoutes } from '../../http/routes/correction-routes.ts'
import { partitionOf } from '../../runs/stored/record.ts'
import type { Reader, Transaction } from '../../stores/store.ts'

const NAME = 'corrections'

const CORRECTION_TRANSACTIONS = {
  reads: { list: (tx: Reader, query: CorrectionQuery) => listCorrections(tx, query) },
  writes: {
    add: (tx: Transaction, correction: Correction, owner: string | null) =>
      addCorrection(tx, correction, owner),
    forget: (tx: Transaction, owner: string | null) => forgetCorrections(tx, owner),
  },
} satisfies Transactions

/** Stores corrections of agents' output, and passes them to agents: `/agents/:name/corrections`. */
export function corrections(): Plugin {
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: CORRECTION_TRANSACTIONS },
    memory: callTransactions => {
      const { list } = correctionsIn(callTransactions)
      return {
        corrections: async (agent, owner, limit) => (await list({ agent, owner, limit })).corrections,
      }
    },
    mount: ({ prefix, catalog, maxBodyBytes, settings, callTransactions, runs }) => ({
      routes: correctionRoutes({
        permit: runs.permit,
        prefix,
        catalog,
        maxBodyBytes,
        listAnonymous: settings.runs.listAnonymous,
        store: correctionsIn(callTransactions),
      }),
      describe,
      forget: async ({ owner, session }) =>
        session === undefined &&
        callTransactions(NAME, CORRECTION_TRANSACTIONS).forget(partitionOf(owner), owner),
    }),
  })
}

/** The default store of corrections. With Durable Objects they are in the object that lists their owner's runs. */
function correctionsIn(callTransactions: CallTransactions): Required<CorrectionStore> {
  const calls = callTransactions(NAME, CORRECTION_TRANSACTIONS)
  return {
    add: (correction, owner) => calls.add(partitionOf(owner), correction, owner),
    list: query => calls.list(partitionOf(query.owner), query),
  }
}

function describe(build: Builders): Description {
  const { at, nameOf, operation, page, answer, json, ref, object, list, text, maybeText, moment } = build
  const name = nameOf('agent')
  const example = { originalValue: 'Oslo', correctedValue: 'Bergen', field: 'city' }
  return {
    paths: {
      [at('agents/{name}/corrections')]: {
        post: operation('run', 'addCorrection', 'Store a correction of an agent output', {
          parameters: [name],
          requestBody: { required: true, content: json(ref('CorrectionBody'), example) },
          responses: { 201: answer('Stored', json(ref('Correction'))) },
          problems: [400, 401, 403, 404, 413, 415, 429, 503],
        }),
        get: page('run', 'listCorrections', 'List corrections, newest first', 'CorrectionPage', [name]),
      },
    },
    bodies: { CorrectionBody: CorrectionSchema },
    schemas: {
      Correction: { allOf: [ref('CorrectionBody'), object({ id: text, agent: text, createdAt: moment })] },
      CorrectionPage: object({ corrections: list(ref('Correction')), nextCursor: maybeText }),
    },
  }
}
