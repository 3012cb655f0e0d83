import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ShownPage } from '../../src/features/console/app-pages.ts'
import type { Chat } from '../chat/chats.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Notice } from '../parts/notice.tsx'
import { BASE, config } from '../service.ts'
import { visible } from '../text.ts'
import { PageHost } from './host.ts'
import { frameAddress } from './messages.ts'

/** Frames that are open, and the most that open by themselves. */
let open = 0
const MAX_OPEN = 12

/** The height of a frame in CSS pixels. */
const HEIGHTS = { least: 40, first: 160, most: 640 } as const

/** How a frame looks. It is here, and not in a file that the page begins with. */
const LOOK = { display: 'block', width: '100%', marginTop: '8px', borderRadius: '8px' } as const

let isNarrow = false

/**
 * Narrows the policy of the page for good: frames show the empty frame alone, and no other address of the service. The policy in the
 * header cannot name its path, since a proxy may change it.
 */
function narrowFrames(): void {
  if (isNarrow) return
  isNarrow = true
  const meta = document.createElement('meta')
  meta.httpEquiv = 'Content-Security-Policy'
  meta.content = `frame-src ${new URL(`${BASE}/console/frame`).href}`
  document.head.append(meta)
}

interface Props {
  readonly chat: Chat
  readonly page: ShownPage
  /** Whose page it is. */
  readonly name: string
  readonly input: object
  readonly result: object
}

/** A page of an agent or a tool in a frame, which has no access to this page, to the service, or to what the browser keeps. */
export function AppPage(props: Props) {
  const [isOpen, setOpen] = useState(open < MAX_OPEN)
  const [closed, close] = useState<string>()
  if (closed !== undefined) return <Notice>{closed}</Notice>
  if (isOpen) return <Frame {...props} close={close} />
  return (
    <button type="button" onClick={() => setOpen(true)}>
      Show the page of {visible(props.name)}
    </button>
  )
}

/** A question whether an address may be opened. */
interface Asked {
  readonly address: string
  readonly decide: (isOpened: boolean) => void
}

function Frame({ chat, page, name, input, result, close }: Props & { close: (why: string) => void }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState<number>(HEIGHTS.first)
  const [asked, ask] = useState<Asked>()
  const [hasWritten, setWritten] = useState(false)
  narrowFrames()
  useLayoutEffect(() => {
    const target = frame.current?.contentWindow
    if (!target) return
    const leaving = new AbortController()
    open++
    new PageHost(
      target,
      {
        ...{ html: page.html, server: page.server, input, result, close, version: config.value.version },
        resize: wanted => setHeight(Math.min(Math.max(Math.ceil(wanted), HEIGHTS.least), HEIGHTS.most)),
        openLink: address => new Promise(decide => ask({ address, decide })),
        write(text) {
          const { draft } = chat
          const before = draft.value.text
          draft.value = { ...draft.value, text: before === '' ? text : `${before}\n${text}` }
          setWritten(true)
        },
      },
      leaving.signal,
    )
    return () => {
      open--
      leaving.abort()
    }
  }, [])
  return (
    <>
      <iframe
        ref={frame}
        class="app"
        title={`Page of ${name}`}
        sandbox="allow-scripts"
        allow=""
        referrerpolicy="no-referrer"
        style={{ ...LOOK, border: page.prefersBorder === false ? '0' : 'var(--line)', height: `${height}px` }}
        src={frameAddress(BASE, page.csp ?? {})}
      />
      <p class="soft small" role="status">
        {hasWritten && 'The page wrote a message for you. It is below, and you send it.'}
      </p>
      {asked && (
        <Dialog
          title="Open a link?"
          submit="Open"
          work={async () => {
            globalThis.open(asked.address, '_blank', 'noopener,noreferrer')
            asked.decide(true)
          }}
          onClose={() => {
            asked.decide(false)
            ask(undefined)
          }}
        >
          <p>
            The page of {visible(name)} wants to open{' '}
            <b style={{ overflowWrap: 'anywhere' }}>{visible(asked.address)}</b>
          </p>
        </Dialog>
      )}
    </>
  )
}
