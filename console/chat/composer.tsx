import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunInput } from '../../src/agents/contract.ts'
import { Notice } from '../parts/notice.tsx'
import { config, messageOf } from '../service.ts'
import { size, visible } from '../text.ts'
import { type Chat, type Draft, NO_DRAFT } from './chats.ts'
import { type FilePart, nameOf, partOf } from './files.ts'

/** Bytes that the other fields of a body may need. */
const OTHER_FIELDS = 4096

/** The field for a message. Enter sends it, Shift and Enter break the line, and Escape stops the answer. */
export function Composer({ chat }: { chat: Chat }) {
  const { text, files } = chat.draft.value
  const change = (part: Partial<Draft>) => {
    chat.draft.value = { ...chat.draft.value, ...part }
  }
  const [wrong, setWrong] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const edited = chat.edited.value
  const { isBusy } = chat
  const addsMore = isBusy && chat.takesMore && edited === undefined
  useEffect(() => {
    if (edited === undefined) return
    const attached = filesIn(edited.input).map(part => ({ part, name: nameOf(part) }))
    change({ text: textIn(edited.input), files: attached })
    field.current?.focus()
  }, [edited])
  const clear = () => {
    chat.edited.value = undefined
    chat.draft.value = NO_DRAFT
    setWrong(undefined)
  }
  const send = (concurrency: 'queue' | 'steer' = 'queue') => {
    if ((isBusy && !addsMore) || (text.trim() === '' && files.length === 0)) return
    const input = inputOf(text, files)
    const tooLarge = whyTooLarge(input)
    setWrong(tooLarge)
    if (tooLarge !== undefined) return
    clear()
    void (addsMore ? chat.sendMore(input, concurrency) : chat.send(input, edited))
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isBusy) stop(chat)
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    send()
  }
  const attach = async (chosen: readonly File[]) => {
    try {
      const more = await Promise.all(
        chosen.map(async file => ({ part: await partOf(file), name: file.name })),
      )
      change({ files: [...files, ...more] })
      setWrong(whyTooLarge(inputOf(text, [...files, ...more])))
    } catch (error) {
      setWrong(messageOf(error))
    }
  }
  return (
    <form
      class="composer"
      aria-label="New message"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      {wrong !== undefined && <Notice kind="error">{wrong}</Notice>}
      {edited !== undefined && (
        <p>
          You are editing an earlier message. Sending it replaces that message and all after it.{' '}
          <button type="button" class="quiet" onClick={clear}>
            Cancel editing
          </button>
        </p>
      )}
      {files.length > 0 && (
        <ul class="files" aria-label="Attached files">
          {files.map((each, index) => (
            <li key={index}>
              {visible(each.name)} <span class="soft">{size((each.part.data.length * 3) / 4)}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${each.name}`}
                onClick={() => {
                  const left = files.filter(other => other !== each)
                  change({ files: left })
                  setWrong(whyTooLarge(inputOf(text, left)))
                }}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="box">
        <label>
          <span class="unseen">Message</span>
          <textarea
            ref={field}
            rows={2}
            value={text}
            aria-describedby="keys"
            placeholder={`Message to ${chat.name.slice(0, 60)}`}
            onInput={event => change({ text: event.currentTarget.value })}
            onKeyDown={press}
          />
        </label>
        <p class="actions">
          {config.value.takesFiles && (
            <label class="attach">
              Attach files
              <input
                type="file"
                multiple
                onChange={event => {
                  const { currentTarget } = event
                  void attach([...(currentTarget.files ?? [])])
                  currentTarget.value = ''
                }}
              />
            </label>
          )}
          <span id="keys" class="soft">
            <kbd>Enter</kbd> sends, <kbd>Shift Enter</kbd> a new line
            {isBusy && (
              <>
                , <kbd>Esc</kbd> stops
              </>
            )}
          </span>
          {addsMore && (
            <>
              <button type="submit" title="Sends it when this answer is done">
                Queue
              </button>
              <button
                type="button"
                title="Sends it to the agent that is answering"
                onClick={() => send('steer')}
              >
                Send now
              </button>
            </>
          )}
          {isBusy ? (
            <button type="button" onClick={() => stop(chat)}>
              Stop
            </button>
          ) : (
            <button type="submit" class="main">
              Send
            </button>
          )}
        </p>
      </div>
    </form>
  )
}

function stop(chat: Chat): void {
  for (const turn of chat.turns.value) if (turn.answer.value.status === 'running') chat.stop(turn)
}

function inputOf(text: string, files: Draft['files']): RunInput {
  if (files.length === 0) return text
  const parts = files.map(({ part }) => part)
  return text.trim() === '' ? parts : [{ type: 'text', text }, ...parts]
}

function textIn(input: RunInput): string {
  if (typeof input === 'string') return input
  return input.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function filesIn(input: RunInput): readonly FilePart[] {
  if (typeof input === 'string') return []
  return input.filter(part => part.type !== 'text' && part.type !== 'data') as FilePart[]
}

function whyTooLarge(input: RunInput): string | undefined {
  const most = config.value.maxBodyBytes - OTHER_FIELDS
  const { length } = new TextEncoder().encode(JSON.stringify(input))
  if (length <= most) return undefined
  return `The message is too large: ${size(length)}. The service takes ${size(most)} at most. Shorten it, or attach less.`
}
