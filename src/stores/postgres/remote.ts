/**
 * PostgreSQL as a remote store (decision 31). All queries of a look are one statement (`look.ts`), which sees one moment. A
 * commit is one call of a function.
 *
 * @module
 */

import type { Commit, Committed, RemoteStore } from '../remote/remote.ts'
import { isLean, leanCommit } from './commit.ts'
import { isTaken, type PostgresDriver, type Row } from './driver.ts'
import { type LookResult, LookStatement } from './look.ts'
import { columns, grownLogs, toRow } from './rows.ts'
import { stored, storedKey } from './text.ts'

/** Creates the remote store. `prepare` is awaited before each request. `s` is the schema as it appears in statements. */
export function postgresRemote(driver: PostgresDriver, s: string, prepare: () => Promise<void>): RemoteStore {
  // The database's clock and the time of its last reading. The process's own clock may be set, so only the time since then is
  // measured here.
  let known = { clock: Date.now(), at: performance.now() }
  return {
    now: () => known.clock + performance.now() - known.at,
    async look(asks) {
      await prepare()
      const look = new LookStatement(s, asks)
      const [row = {}] = await driver.query(look.text, look.values, { isOften: look.isUsual })
      const [clock, ...answers] = row.known as LookResult
      known = { clock, at: performance.now() }
      return look.answers(answers, row)
    },
    async commit(commit) {
      await prepare()
      if (isLean(commit)) return send(driver, s, commit, leanCommit(s, commit))
      const text = `SELECT ${s}.commit_2($1::text)::text AS version`
      return send(driver, s, commit, { text, values: [JSON.stringify(toJson(commit))] })
    },
  }
}

/** Sends a commit. A unique violation means that what was not there has come to be. */
async function send(
  driver: PostgresDriver,
  s: string,
  commit: Commit,
  { text, values }: ReturnType<typeof leanCommit>,
): Promise<Committed | undefined> {
  try {
    const committed = committedIn(await driver.query(text, values, { isOften: true }))
    if (committed !== undefined) return committed
  } catch (error) {
    if (!isTaken(error)) throw error
  }
  // Something has changed. If this commit was sent before, that may have been its own writes.
  const written = `SELECT version::text FROM ${s}.commits WHERE id = $1::text::uuid`
  return committedIn(await driver.query(written, [commit.id], { isOften: true }))
}

function committedIn([row]: readonly Row[]): Committed | undefined {
  const version = row?.version
  return typeof version === 'string' ? { version } : undefined
}

/** A commit as the function parses it: each table as its columns. Empty ones are left out. */
function toJson({ id, seen, documents, logs, calls }: Commit): object {
  const name = ({ collection, id: i }: { readonly collection: string; readonly id: string }) => ({
    collection: stored(collection),
    id: storedKey(i),
  })
  const grown = grownLogs({ seen, logs }).map(each => ({ ...each, log: stored(each.log) }))
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
      documents.flatMap(({ collection, document, text }) => (document ? { collection, document, text } : [])),
      ({ collection, document, text }) => ({ collection: stored(collection), ...toRow(document, text) }),
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
