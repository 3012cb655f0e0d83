import type { ShownPage } from '../../src/features/console/app-pages.ts'
import type { Chat } from '../chat/chats.ts'
import type { Part } from '../chat/parts.ts'
import { useLoaded } from '../loading.ts'
import { Failure } from '../parts/notice.tsx'
import { ask } from '../service.ts'
import { AppPage } from './app-page.tsx'
import { resultFor } from './messages.ts'

/** What the service said of pages, by the path that was asked. Most answers that are kept. */
const known = new Map<string, Promise<unknown>>()
const MAX_KNOWN = 200

function once<T>(path: string): Promise<T> {
  let asked = known.get(path)
  if (asked === undefined) {
    if (known.size >= MAX_KNOWN) known.clear()
    asked = ask<T>(path)
    known.set(path, asked)
    asked.catch(() => known.delete(path))
  }
  return asked as Promise<T>
}

/** The page of a part: of the tool that was called, or for structured output that of the agent. */
async function pageOf({ kind, name }: Chat, tool: string | null): Promise<ShownPage | null> {
  const at = `${kind}/${encodeURIComponent(name)}`
  // The tools of a tool server may not be known before they are called.
  const mayHave = tool?.includes('.') || (await once<unknown[]>(`/console/pages/${at}`)).includes(tool)
  if (!mayHave) return null
  const query = tool === null ? '' : `?tool=${encodeURIComponent(tool)}`
  return (await once<{ page: ShownPage | null }>(`/console/page/${at}${query}`)).page
}

/** What pages of parts need. */
export interface PartProps {
  readonly chat: Chat
  readonly part: Extract<Part, { kind: 'tool' | 'structured' }>
  /** The text of the answer. */
  readonly text: string
}

/** The page that shows a whole part of an answer, if there is one. */
export function PageOf({ chat, part, text }: PartProps) {
  const tool = part.kind === 'tool' ? part.name : null
  const { value: page, error } = useLoaded(`${tool}`, () => pageOf(chat, tool))
  if (error !== undefined) return <Failure error={error} />
  if (!page) return null
  const { input, result } =
    part.kind === 'tool'
      ? { input: Object(part.args), result: resultFor(part.result) }
      : { input: {}, result: { ...resultFor(text || part.value), structuredContent: part.value } }
  return <AppPage {...{ chat, page, input, result }} name={tool ?? chat.name} />
}
