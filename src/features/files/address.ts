/**
 * The addresses of files, and where each one stands in its run.
 *
 * @module
 */

import { joinPath } from '../../http/router.ts'
import { sha256 } from '../../web/digest.ts'

/** Something of a run that has parts. */
export interface Spot {
  /** Names it in documents: letters, digits and hyphens. */
  readonly key: string
  /** Its path below that of the run. */
  readonly path: string
}

/** The input of a run. */
export const INPUT_SPOT: Spot = { key: 'input', path: 'input' }

/** Who refers to the files of a turn: its run, as a part of a session. */
export function turnRefOf(runId: string): string {
  return `turn-${runId}`
}

/** The run of the turn that refers so. */
export function runOfTurn(refId: string): string {
  return refId.slice(turnRefOf('').length)
}

/** The nth message of a run, from 1. */
export function messageSpot(n: number): Spot {
  return { key: `message-${n}`, path: `messages/${n}` }
}

/** An artifact. An id that a path cannot hold as it is, such as `..`, has its digest there. */
export async function artifactSpot(artifactId: string): Promise<Spot> {
  const digest = await sha256(artifactId)
  return { key: artifactKey(digest), path: `artifacts/${segmentOf(artifactId) ?? `~${digest}`}` }
}

/** The key of an artifact by what stands in the path of its address. */
export async function keyInPath(segment: string): Promise<string> {
  const [, digest] = /^~([\da-f]{64})$/.exec(segment) ?? []
  return artifactKey(digest ?? (await sha256(segment)))
}

/** Where a file of a turn stands. */
export interface TurnFile {
  readonly refId: string
  readonly place: string
}

/** The files of inputs whose addresses stand in turns, each once. */
export function turnFilesIn(turns: string): TurnFile[] {
  const found = turns.matchAll(
    /\/runs\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/input(?:\?part=(\d{1,4}))?"/g,
  )
  const files = new Map<string, TurnFile>()
  for (const [address, runId = '', part = '0'] of found) {
    files.set(address, { refId: turnRefOf(runId), place: placeOf(INPUT_SPOT.key, Number(part)) })
  }
  return [...files.values()]
}

/** The key of a part. */
export function placeOf(key: string, part: number): string {
  return `${key}.${part}`
}

/** Makes the addresses of parts. */
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

/** Undefined for an id that would lead elsewhere, is half a character, or looks like a digest. */
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
