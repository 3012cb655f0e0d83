import { useEffect, useState } from 'preact/hooks'
import type { ContentPart } from '../../src/agents/contract.ts'
import { useLoaded } from '../loading.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { memo } from '../memo.ts'
import { JsonView } from '../parts/json-view.tsx'
import { Failure } from '../parts/notice.tsx'
import { size, visible } from '../text.ts'
import { contentOf, type FilePart, foreignIn, nameOf, save, waysToShow } from './files.ts'

/** The parts of a message. */
export const Contents = memo(({ parts, name }: { parts: readonly ContentPart[]; name: string }) => (
  <>
    {parts.map((part, index) => {
      if (part.type === 'text') return <Markdown key={index} text={part.text} isWhole />
      if (part.type === 'data') return <JsonView key={index} value={part.data} label={name} />
      return <FileView key={index} part={part} name={name} />
    })}
  </>
))

/** A file: shown if that is harmless, otherwise offered for saving. Its source is shown as text. */
function FileView({ part, name }: { part: FilePart; name: string }) {
  const foreign = foreignIn(part)
  const title = visible((part.type === 'file' && part.filename) || name || nameOf(part))
  if (foreign === undefined) return <OwnFile part={part} title={title} />
  return (
    <p>
      {title}:{' '}
      <a href={foreign} rel="noopener noreferrer nofollow" target="_blank">
        {visible(foreign)}
      </a>
    </p>
  )
}

function OwnFile({ part, title }: { part: FilePart; title: string }) {
  const { value, error } = useLoaded(part.data, () => shown(part))
  const [source, setSource] = useState<string>()
  const blob = value?.address
  useEffect(() => () => URL.revokeObjectURL(blob ?? ''), [blob])
  if (error !== undefined) return <Failure error={error} />
  if (value === undefined) return <p aria-busy="true">Loading…</p>
  const { content, way, address } = value
  const type = part.mimeType ?? content.type
  return (
    <figure class="file">
      {way === 'image' && <img src={address} alt={title} />}
      {/* biome-ignore lint/a11y/useMediaCaption: a file of a stranger has no captions */}
      {way === 'audio' && <audio src={address} controls aria-label={title} />}
      <figcaption>
        {title} <span class="soft">{`${type} ${size(content.size)}`}</span>
        <button type="button" class="quiet" aria-label={`Save ${title}`} onClick={() => save(content, title)}>
          Save
        </button>
        {way === 'text' && source === undefined && (
          <button
            type="button"
            class="quiet"
            aria-label={`Show source of ${title}`}
            onClick={async () => setSource(await content.text())}
          >
            Show source
          </button>
        )}
      </figcaption>
      {source !== undefined && <JsonView value={source} label={`source of ${title}`} />}
    </figure>
  )
}

/** The view of a file. */
async function shown(part: FilePart) {
  const content = await contentOf(part)
  const way = waysToShow(part.mimeType ?? content.type)
  const address = way === 'image' || way === 'audio' ? URL.createObjectURL(content) : undefined
  return { content, way, address }
}
