/**
 * PostgreSQL as a store that answers later (decision 31): all questions of a look are one statement (`look.ts`), which sees
 * one moment, and a commit is one call of a function.
 *
 * @module
 */

import type { Commit, Committed, Far, Version } from '../remote/far.ts'
import type { PostgresDriver } from './driver.ts'
import { type Known, Look } from './look.ts'
import { columns, toRow } from './rows.ts'
import { restored, stored, storedKey } from './text.ts'

/** Makes it. `prepare` is awaited before each request. `s` is the schema as statements name it. */
export function postgresFar(driver: PostgresDriver, s: string, prepare: () => Promise<void>): Far {
  // The clock of a process may be set: only what has passed since the last look is its own.
  let known = { clock: Date.now(), at: performance.now() }
  return {
    now: () => known.clock + performance.now() - known.at,
    async look(asks) {
      await prepare()
      const look = new Look(s, asks)
      const [row = {}] = await driver.query(look.text, look.values, { isOften: look.isUsual })
      const [clock, ...answers] = row.known as Known
      known = { clock, at: performance.now() }
      return look.answers(answers, row)
    },
    async commit(commit) {
      await prepare()
      const text = `SELECT ${s}.commit_1($1::text) AS versions`
      const [row] = await driver.query(text, [JSON.stringify(toJson(commit))], { isOften: true })
      return toCommitted(row?.versions as Readonly<Record<string, string>> | null)
    },
  }
}

/** A commit as the function reads it: each table as its columns. What is empty is left out. */
function toJson({ id, seen, documents, logs, calls }: Commit): object {
  const name = ({ collection, id: i }: { readonly collection: string; readonly id: string }) => ({
    collection: stored(collection),
    id: storedKey(i),
  })
  const lengths = new Map(seen.logs.map(({ log, head }) => [log, head?.length]))
  const grown = logs
    .filter(({ entries }) => entries.length > 0)
    .map(each => {
      const length = each.isDeleted ? 0 : lengths.get(each.log)
      // Whoever appends has seen the end of the log.
      if (length === undefined) throw new TypeError(`Nobody has seen the log ${each.log}`)
      return { ...each, log: stored(each.log), length }
    })
  return {
    id,
    seen: columns(seen.documents, each => ({ ...name(each), version: each.version ?? null })),
    heads: columns(seen.logs, ({ log, version, head }) => ({
      ...{ log: stored(log), version: version ?? null },
      ...{ last: head?.length ?? null, sealed: head?.isSealed ?? null },
    })),
    logs: [...new Set([...seen.logs, ...logs].map(({ log }) => stored(log)))],
    gone: columns(
      documents.filter(({ document }) => document === undefined),
      name,
    ),
    puts: columns(
      documents.flatMap(({ collection, document }) => (document ? { collection, document } : [])),
      ({ collection, document }) => ({ collection: stored(collection), ...toRow(document) }),
    ),
    deleted: logs.some(({ isDeleted }) => isDeleted)
      ? logs.flatMap(({ log, isDeleted }) => (isDeleted ? stored(log) : []))
      : undefined,
    grown: columns(grown, ({ log, length, entries, isSealed }) => ({
      ...{ log, last: length + entries.length, sealed: isSealed },
    })),
    entries: columns(
      grown.flatMap(({ log, length, entries }) =>
        entries.map((data, at) => ({ log, seq: length + at + 1, data: stored(data) })),
      ),
      entry => entry,
    ),
    calls: calls.length > 0 ? calls : undefined,
  }
}

function toCommitted(versions: Readonly<Record<string, string>> | null): Committed | undefined {
  if (versions === null) return undefined
  return {
    logs: new Map(
      Object.entries(versions).map(([log, version]) => [restored(log), version] as [string, Version]),
    ),
  }
}
