/**
 * The files of stored runs: `GET /runs/:id/artifacts/:artifactId`, `/runs/:id/messages/:n` and `/runs/:id/input`.
 *
 * @module
 */

import type { Artifact, ContentPart } from '../../agents/contract.ts'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import { runIdOf } from '../../http/routes/stored-run-routes.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import { artifactSpot, INPUT_SPOT, keyInPath, messageSpot, partKeyOf } from './address.ts'
import { digestOf } from './bytes.ts'
import { contentOf, fileNameOf, isFilePart, mediaTypeOf } from './content.ts'
import { type FileAnswer, missing, respondWith } from './response.ts'
import type { FileService } from './service.ts'

/** Makes the routes. */
export function fileRoutes({ prefix, host }: Pick<Core, 'prefix' | 'host'>, files: FileService): Route[] {
  const route = (
    path: string,
    keyOf: (state: RequestState) => string | Promise<string>,
    inline?: (record: RunRecord, key: string) => Promise<Artifact | undefined>,
  ): Route => ({
    method: 'GET',
    path: joinPath(prefix, 'runs/:id', path),
    part: 'runs',
    async endpoint(request, state) {
      const refId = runIdOf(state)
      const part = partOf(request)
      const ofRun = async () => {
        // Checks first whether the caller may read the run.
        const record = await host.get(refId, state.owner)
        const key = await keyOf(state)
        const found = await files.find({ refId, place: partKeyOf(key, part) }, state.owner)
        return found ?? asFile(await inline?.(record, key), part)
      }
      // A turn may have files although its run has no record.
      const ofTurn = () => files.findOfTurn(refId, partKeyOf(INPUT_SPOT.key, part), state.owner)
      const file = (path === INPUT_SPOT.path && (await ofTurn())) || (await ofRun())
      if (file === undefined) throw missing()
      const response = await respondWith(request, file)
      response.headers.set('x-run-id', refId)
      return response
    },
  })
  return [
    route('artifacts/:artifact', ({ params }) => keyInPath(params.artifact ?? ''), artifactIn),
    route('messages/:message', ({ params }) => messageSpot(numberOf(params.message ?? '')).key),
    route(INPUT_SPOT.path, () => INPUT_SPOT.key),
  ]
}

/** The artifact of a result. */
async function artifactIn({ result }: RunRecord, key: string): Promise<Artifact | undefined> {
  for (const artifact of result?.artifacts ?? []) {
    if ((await artifactSpot(artifact.artifactId)).key === key) return artifact
  }
  return undefined
}

/** A part whose data is still in its artifact. */
async function asFile(artifact: Artifact | undefined, index: number): Promise<FileAnswer | undefined> {
  const part = artifact?.parts[index]
  const content = part && (await inlineOf(part))
  if (content === undefined) return undefined
  const { bytes, mimeType } = content
  const filename = part?.type === 'file' ? part.filename : undefined
  return {
    digest: await digestOf(bytes),
    size: bytes.length,
    mimeType: mediaTypeOf(mimeType),
    filename: fileNameOf(filename ?? artifact?.name),
    read: async () => bytes,
  }
}

async function inlineOf(part: ContentPart): Promise<Awaited<ReturnType<typeof contentOf>>> {
  if (isFilePart(part)) return contentOf(part)
  const text = part.type === 'text' ? part.text : JSON.stringify(part.data ?? null)
  const mimeType = part.type === 'text' ? 'text/plain; charset=utf-8' : 'application/json'
  return { bytes: new TextEncoder().encode(text), mimeType }
}

function partOf(request: Request): number {
  const text = queryOf(request.url).get('part') ?? '0'
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ServableError('invalid_query', '`part` must be the number of a part, from 0')
}

/** The number of a message. 0, which no message has, for any other text. */
function numberOf(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
}
