/**
 * The addresses of files, and their positions in runs.
 *
 * @module
 */

import { joinPath } from '../../http/router.ts'
import { sha256 } from '../../web/digest.ts'

/** Something in a run that has parts: the input, a message or an artifact. */
export interface Spot {
  /** Its name in documents: letters, digits and hyphens. */
  readonly key: string
  /** Its path below the path of the run. */
  readonly path: string
}

/** The input of a run. */
export const INPUT_SPOT: Spot = { key: 'input', path: 'input' }

/** The id of a reference from a turn of a session to its files. */
export function turnRefOf(runId: string): string {
  return `turn-${runId}`
}

/** The run of the turn with this reference id. */
export function runOfTurn(refId: string): string {
  return refId.slice(turnRefOf('').length)
}

/** The nth message of a run, from 1. */
export function messageSpot(n: number): Spot {
  return { key: `message-${n}`, path: `messages/${n}` }
}

/** An artifact. An id that cannot be a path segment, such as `..`, is replaced by its digest. */
export async function artifactSpot(artifactId: string): Promise<Spot> {
  const digest = await sha256(artifactId)
  return { key: artifactKey(digest), path: `artifacts/${segmentOf(artifactId) ?? `~${digest}`}` }
}

/** The key of an artifact, from the path segment of its address. */
export async function keyInPath(segment: string): Promise<string> {
  const [, digest] = /^~([\da-f]{64})$/.exec(segment) ?? []
  return artifactKey(digest ?? (await sha256(segment)))
}

/** A file that a run made: its spot and its part. */
export interface MadeAt {
  readonly spot: Spot
  readonly part: number
}

/** The file at a place that a run made, by the key of its part. Undefined for the input, and what is no such key. */
export function madeAt(partKey: string): MadeAt | undefined {
  const [, digest, message, part] =
    /^(?:artifact-([\da-f]{64})|message-([1-9]\d{0,8}))\.(\d{1,9})$/.exec(partKey) ?? []
  if (part === undefined) return undefined
  const spot = message
    ? messageSpot(Number(message))
    : { key: artifactKey(digest ?? ''), path: `artifacts/~${digest}` }
  return { spot, part: Number(part) }
}

/** The key of the part at a path below the path of a run. Undefined for any other path. */
export async function partKeyIn(path: string): Promise<string | undefined> {
  const [, artifact, message, part = '0'] =
    /^(?:artifacts\/([^/?]{1,2000})|messages\/([1-9]\d{0,8}))(?:\?part=(\d{1,9}))?$/.exec(path) ?? []
  if (message !== undefined) return partKeyOf(messageSpot(Number(message)).key, Number(part))
  if (artifact === undefined) return undefined
  try {
    return partKeyOf(await keyInPath(decodeURIComponent(artifact)), Number(part))
  } catch {
    return undefined
  }
}

/** The position of a file of a turn. */
export interface TurnFile {
  readonly refId: string
  readonly place: string
}

/** The files of inputs whose addresses are in these turns, without duplicates. */
export function turnFilesIn(turns: string): TurnFile[] {
  const found = turns.matchAll(
    /\/runs\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/input(?:\?part=(\d{1,4}))?"/g,
  )
  const files = new Map<string, TurnFile>()
  for (const [address, runId = '', part = '0'] of found) {
    files.set(address, { refId: turnRefOf(runId), place: partKeyOf(INPUT_SPOT.key, Number(part)) })
  }
  return [...files.values()]
}

/** The key of a part. It is stored. */
export function partKeyOf(key: string, part: number): string {
  return `${key}.${part}`
}

/** Creates the function that makes addresses of parts. */
export function addressesOf(
  origin: string | undefined,
  prefix: string,
): (runId: string, { path }: Spot, part: number) => string {
  const runs = joinPath(prefix, 'runs')
  return (runId, { path }, part) =>
    `${origin ?? ''}${runs}/${runId}/${path}${part === 0 ? '' : `?part=${part}`}`
}

function artifactKey(digest: string): string {
  return `artifact-${digest}`
}

/**
 * The path segment of an id. Undefined for an id that would change the path, has an unpaired surrogate, or looks like a digest.
 */
function segmentOf(artifactId: string): string | undefined {
  if (/^(\.{0,2}$|~)/.test(artifactId) || artifactId.length > MAX_ID_LENGTH) return undefined
  try {
    return encodeURIComponent(artifactId)
  } catch {
    return undefined
  }
}

/** Longer ids make addresses that some servers refuse. */
const MAX_ID_LENGTH = 200
