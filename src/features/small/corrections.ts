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

/** Stores corrections of agents' output, and passes them to agents: `/agents/:name/corrections`. Those with an input are cases for tests. */
export function corrections(): Plugin {
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: CORRECTION_TRANSACTIONS },
    memory: callTransactions => {
      const { list } = correctionsIn(callTransactions)
      return {
        corrections: (agent, owner, limit) => toldOf(list, { agent, owner, limit }),
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

/** Most pages that are read for a model. */
const MAX_PAGES = 5

/** The newest corrections of which models are told. A case is for tests, whose answer would be told away. */
async function toldOf(
  list: Required<CorrectionStore>['list'],
  { limit, ...query }: CorrectionQuery,
): Promise<readonly Correction[]> {
  const told: Correction[] = []
  let cursor: string | null | undefined
  for (let pages = 0; pages < MAX_PAGES && told.length < limit && cursor !== null; pages++) {
    const page = await list({ ...query, limit, cursor })
    told.push(...page.corrections.filter(({ input }) => input === undefined))
    cursor = page.nextCursor
  }
  return told.slice(0, limit)
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
      [at('agents/{name}/corrections/export')]: {
        get: operation('run', 'exportCases', 'Export the corrections with an input, a line of JSON each', {
          parameters: [name],
          responses: { 200: answer('The cases', { 'application/x-ndjson': { schema: { type: 'string' } } }) },
          problems: [401, 403, 404, 503],
        }),
      },
    },
    bodies: { CorrectionBody: CorrectionSchema },
    schemas: {
      Correction: { allOf: [ref('CorrectionBody'), object({ id: text, agent: text, createdAt: moment })] },
      CorrectionPage: object({ corrections: list(ref('Correction')), nextCursor: maybeText }),
    },
  }
}
